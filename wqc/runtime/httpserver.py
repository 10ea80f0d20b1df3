"""A small HTTP server: GET alone, one function from request to answer, in a thread beside the event loop."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

IDLE = 60.0
"""Seconds after which a silent connection is closed."""


@dataclass(frozen=True, slots=True)
class Request:
    """`path` as it was sent, with its percent-encoding; `query` decoded, the last value of a name."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """By lower-case name."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


Respond = Callable[[Request], Answer]


class _Everywhere(ThreadingHTTPServer):
    """On all addresses, of IPv4 and of IPv6."""

    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class HttpServer:
    """Listens from construction on; raises OSError. `host` "" is everywhere, `port` 0 a free one."""

    def __init__(self, host: str, port: int, respond: Respond) -> None:
        kind = ThreadingHTTPServer if host else _Everywhere
        self._server = kind((host, port), _handler(respond))
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True, name="http")
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def on_loop(loop: asyncio.AbstractEventLoop, work: Awaitable[Answer], timeout: float) -> Answer:
    """What the coroutine answers that runs on the event loop, asked from a server's thread."""
    future = asyncio.run_coroutine_threadsafe(_awaited(work), loop)
    try:
        return future.result(timeout)
    except TimeoutError:
        future.cancel()
        return Answer(503, b'{"kind":"Status","message":"it took too long"}')


async def _awaited(work: Awaitable[Answer]) -> Answer:
    return await work


def _handler(respond: Respond) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "wqc"
        sys_version = ""
        timeout = IDLE

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = {name: values[-1] for name, values in parse_qs(split.query).items()}
            answer = respond(Request(split.path, query, headers))
            self.send_response(answer.status)
            if answer.status != 304:
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if answer.status != 304:
                self.wfile.write(answer.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests come every few seconds; they are not worth a line."""

    return Handler
