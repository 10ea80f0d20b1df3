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
    """`asked` counts `listing` and `item`."""

    def __init__(self, url: str, asked: Counter[str]) -> None:
        self.source = {"url": url}
        self.asked = asked


@contextmanager
def served(items: Mapping[str, Any]) -> Iterator[Served]:
    asked: Counter[str] = Counter()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    api = SourceApi({"": ItemsSource(dict(items))})

    def respond(request: Request) -> Answer:
        answer = on_loop(loop, api.answer(request), 60)
        asked["listing" if request.path.endswith("/items") else "item"] += 1
        return answer

    server = HttpServer("127.0.0.1", 0, respond)
    try:
        yield Served(f"http://127.0.0.1:{server.port}", asked)
    finally:
        server.close()
        loop.call_soon_threadsafe(loop.stop)
