"""A small HTTP server: one function from request to answer, in threads beside the event loop."""

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

IDLE = 60.0
"""Seconds after which a silent connection is closed."""
LARGEST_REQUEST = 1 << 26
"""Bytes of a body; only who publishes an item sends one that is read."""
WITHOUT_BODY = (204, 304)


@dataclass(frozen=True, slots=True)
class Request:
    """`path` as it was sent, with its percent-encoding; `query` decoded, the last value of a name."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """By lower-case name."""
    method: str = "GET"
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """A body in pieces is sent as they come, so that a long one is never in memory as a whole."""

    status: int
    body: bytes | Iterable[bytes] = b""
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
        # looks every 50 ms whether it is closed
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True, name="http"
        )
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
        return refusal(503, "it took too long")


def refusal(status: int, reason: str, **headers: str) -> Answer:
    """An honest error: its reason is for people."""
    body = {"kind": "Error", "apiVersion": "v1", "reason": reason}
    return Answer(status, json.dumps(body).encode(), headers=headers)


async def _awaited(work: Awaitable[Answer]) -> Answer:
    return await work


def _handler(respond: Respond) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "wqc"
        sys_version = ""
        timeout = IDLE
        wbufsize = 1 << 16

        def do_GET(self) -> None:
            self._respond(b"")

        def do_POST(self) -> None:
            self._read()

        def do_PUT(self) -> None:
            self._read()

        def _read(self) -> None:
            length = self.headers.get("Content-Length", "0")
            if not length.isdecimal() or int(length) > LARGEST_REQUEST:
                self.send_error(413)
                return
            self._respond(self.rfile.read(int(length)))

        def _respond(self, body: bytes) -> None:
            split = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = {name: values[-1] for name, values in parse_qs(split.query).items()}
            answer = respond(Request(split.path, query, headers, self.command, body))
            self._send(answer)

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            pieces = [answer.body] if isinstance(answer.body, bytes) else answer.body
            chunked = False
            if answer.status not in WITHOUT_BODY:
                self.send_header("Content-Type", answer.content_type)
                if isinstance(answer.body, bytes):
                    self.send_header("Content-Length", str(len(answer.body)))
                elif self.request_version == "HTTP/1.0":
                    self.close_connection = True
                else:
                    chunked = True
                    self.send_header("Transfer-Encoding", "chunked")
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if answer.status not in WITHOUT_BODY:
                for piece in filter(None, pieces):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                if chunked:
                    self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()

        def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
            """For what never came as far as `respond`."""
            self.close_connection = True
            reason = message or self.responses.get(code, ("it can't be answered",))[0]
            self._send(refusal(code, reason, Connection="close"))

        def log_message(self, format: str, *args: Any) -> None:
            """Requests come every few seconds; they are not worth a line."""

    return Handler
