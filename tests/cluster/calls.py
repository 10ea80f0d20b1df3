"""A proxy before the API server that kills who calls it, before or after one chosen call takes effect."""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import urllib3

from cluster.client import Client

Moment = Literal["before", "after"]
_PASSED_ON = ("Content-Type", "Retry-After")


@dataclass(frozen=True, order=True)
class Call:
    """The `number`th, from 1, of the calls of one `kind`, such as `POST jobs`."""

    kind: str
    number: int


@dataclass(frozen=True, order=True)
class Point:
    """`before`: the server never sees the call. `after`: it does what it says, and nobody hears of it."""

    call: Call
    moment: Moment

    def __str__(self) -> str:
        return f"{self.moment} {self.call.kind} {self.call.number}"


def kind_of(method: str, target: str) -> str:
    """`GET job`, `list pods`, `watch jobs`, `POST configmaps`, …"""
    url = urlsplit(target)
    query = parse_qs(url.query)
    parts = url.path.split("/namespaces/")[1].split("/")[1:]
    if method != "GET":
        return f"{method} {parts[0]}"
    if len(parts) > 1:
        return f"GET {parts[0]}"
    return f"{'watch' if 'watch' in query else 'list'} {parts[0]}"


class Proxy:
    """On loopback, without TLS and without asking who calls; it calls the server as `client` does.

    `kill` is called once, when `point` is reached; None only counts.
    """

    def __init__(self, client: Client, point: Point | None, kill: Callable[[], None]) -> None:
        self._client = client
        self._point = point
        self._kill = kill
        self._lock = threading.Lock()
        self._streams: list[urllib3.BaseHTTPResponse] = []
        trust = client.api.configuration.ssl_ca_cert
        self._pool = urllib3.PoolManager(maxsize=32, ca_certs=trust, retries=False)
        self.counts: Counter[str] = Counter()
        self.reached = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        for stream in self._streams:
            with suppress(Exception):
                stream.shutdown()

    def count(self, method: str, target: str) -> Call:
        kind = kind_of(method, target)
        with self._lock:
            self.counts[kind] += 1
            return Call(kind, self.counts[kind])

    def kills(self, call: Call, moment: Moment) -> bool:
        """Whether this is the moment; then the caller is dead on return."""
        with self._lock:
            if self.reached or self._point != Point(call, moment):
                return False
            self.reached = True
        self._kill()
        return True

    def forward(self, method: str, target: str, body: bytes, content: str) -> urllib3.BaseHTTPResponse:
        headers = {"Content-Type": content, "Accept": "application/json"}
        self._client.api.update_params_for_auth(headers, [], ["BearerToken"], target, method, body)
        url = self._client.api.configuration.host + target
        return self._pool.request(method, url, headers=headers, body=body or None, preload_content=False)

    def follow(self, stream: urllib3.BaseHTTPResponse) -> None:
        self._streams.append(stream)


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing: a run makes thousands of calls."""

        def handle(self) -> None:
            with suppress(ConnectionError):  # the manager is dead
                super().handle()

        def do_call(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            call = proxy.count(self.command, self.path)
            if proxy.kills(call, "before"):
                self.close_connection = True
                return
            answer = proxy.forward(self.command, self.path, body, self.headers.get("Content-Type", ""))
            streams = call.kind.startswith("watch") and answer.status == 200
            content = b"" if streams else answer.read()
            if proxy.kills(call, "after"):
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name in _PASSED_ON:
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            if streams:
                self._stream(answer)
                return
            answer.release_conn()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _stream(self, answer: urllib3.BaseHTTPResponse) -> None:
            proxy.follow(answer)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                while chunk := answer.read1(65536):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                self.wfile.write(b"0\r\n\r\n")
            except (urllib3.exceptions.HTTPError, ValueError):
                self.close_connection = True  # the watch broke off, and breaks off for the caller too
            finally:
                answer.close()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_call  # noqa: N815

    return Handler
