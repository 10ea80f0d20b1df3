"""An HTTP server that keeps what is posted to it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Posted:
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass
class Receiver:
    port: int
    posted: list[Posted] = field(default_factory=list)


@contextmanager
def receiver(address: str = "127.0.0.1") -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.posted.append(Posted(self.path, headers, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None: ...

    with ThreadingHTTPServer((address, 0), Handler) as server:
        received = Receiver(server.server_port)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield received
        server.shutdown()
