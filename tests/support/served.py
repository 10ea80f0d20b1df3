"""Sources of this process behind a Source API of its own."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from wqc.runtime.ambassador.api import SourceApi
from wqc.runtime.httpserver import HttpServer, on_loop
from wqc.runtime.sources.source import Source


@asynccontextmanager
async def served(sources: Mapping[str, Source]) -> AsyncIterator[str]:
    """By path; the address."""
    loop = asyncio.get_running_loop()
    api = SourceApi(sources)
    server = HttpServer("127.0.0.1", 0, lambda request: on_loop(loop, api.answer(request), 10))
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.close()
        await api.close()
