"""An API on loopback, until told to stop."""

import asyncio
import logging
import signal
from typing import Protocol

from wqc.runtime.httpserver import Answer, HttpServer, Request, on_loop
from wqc.runtime.logs import log

LOOPBACK = "127.0.0.1"


class Api(Protocol):
    async def answer(self, request: Request) -> Answer: ...

    async def close(self) -> None: ...


async def serve(api: Api, port: int, patience: float) -> None:
    """`patience`: seconds that an answer may take. Raises OSError where it can't listen."""
    loop = asyncio.get_running_loop()
    server = HttpServer(LOOPBACK, port, lambda request: on_loop(loop, api.answer(request), patience))
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    log(logging.INFO, "ambassador listens", port=server.port)
    try:
        await stopped.wait()
    finally:
        server.close()
        await api.close()
