"""A Source API in this process, which counts what it is asked for."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from wqc.runtime.ambassador.api import SourceApi
from wqc.runtime.httpserver import Answer, HttpServer, Request, on_loop
from wqc.runtime.sources.items import ItemsSource


class Served:
    """`asked` counts `listing` and `item`. `source`: its settings, once it is reached."""

    source: Mapping[str, Any]

    def __init__(self, items: Mapping[str, Any]) -> None:
        self.asked: Counter[str] = Counter()
        self.list(items)

    def list(self, items: Mapping[str, Any]) -> None:
        """From now on."""
        self._api = SourceApi({"": ItemsSource(dict(items))})

    async def answer(self, request: Request) -> Answer:
        answer = await self._api.answer(request)
        self.asked["listing" if request.path.endswith("/items") else "item"] += 1
        return answer


@contextmanager
def served(items: Mapping[str, Any]) -> Iterator[Served]:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    service = Served(items)
    server = HttpServer("127.0.0.1", 0, lambda request: on_loop(loop, service.answer(request), 60))
    service.source = {"url": f"http://127.0.0.1:{server.port}"}
    try:
        yield service
    finally:
        server.close()
        loop.call_soon_threadsafe(loop.stop)
