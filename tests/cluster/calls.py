"""A proxy before the API server, and somebody in it who meddles with calls and answers."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import urllib3

from cluster.client import Client

_PASSED_ON = ("Content-Type", "Retry-After")


@dataclass(frozen=True, order=True)
class Call:
    """The `number`th, from 1, of the calls of one `kind`, such as `POST jobs`."""

    kind: str
    number: int


@dataclass(frozen=True)
class Reply:
    """What the caller hears instead of the server; nothing with status 0: the connection ends."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class Meddler:
    """This one lets everything through."""

    def before(self, call: Call) -> Reply | None:
        """Other than None: the server never sees the call."""

    def after(self, call: Call) -> Reply | None:
        """Other than None: the server has done it, and this is what its caller hears."""

    def watched(self, call: Call, lines: Iterator[bytes]) -> Iterator[bytes]:
        """What the caller hears of a watch. A line has its end."""
        return lines


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
    """On loopback, without TLS and without asking who calls; it calls the server as `client` does."""

    def __init__(self, client: Client, meddler: Meddler) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._streams: list[urllib3.BaseHTTPResponse] = []
        trust = client.api.configuration.ssl_ca_cert
        self._pool = urllib3.PoolManager(maxsize=32, ca_certs=trust, retries=False)
        self.counts: Counter[str] = Counter()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, meddler))
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

    def forward(self, method: str, target: str, body: bytes, content: str) -> urllib3.BaseHTTPResponse:
        headers = {"Content-Type": content, "Accept": "application/json"}
        self._client.api.update_params_for_auth(headers, [], ["BearerToken"], target, method, body)
        url = self._client.api.configuration.host + target
        return self._pool.request(method, url, headers=headers, body=body or None, preload_content=False)

    def follow(self, stream: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        """A watch's lines."""
        self._streams.append(stream)
        rest = b""
        while chunk := stream.read1(65536):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line + b"\n"


def _handler(proxy: Proxy, meddler: Meddler) -> type[BaseHTTPRequestHandler]:
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
            if reply := meddler.before(call):
                self._reply(reply)
                return
            answer = proxy.forward(self.command, self.path, body, self.headers.get("Content-Type", ""))
            streams = call.kind.startswith("watch") and answer.status == 200
            content = b"" if streams else answer.read()
            if reply := meddler.after(call):
                answer.close()
                self._reply(reply)
                return
            headers = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
            if streams:
                self._stream(call, answer, headers)
                return
            answer.release_conn()
            self._reply(Reply(answer.status, content, headers))

        def _reply(self, reply: Reply) -> None:
            if not reply.status:
                self.close_connection = True
                return
            self._begin(reply.status, reply.headers | {"Content-Length": str(len(reply.body))})
            self.wfile.write(reply.body)

        def _begin(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def _stream(self, call: Call, answer: urllib3.BaseHTTPResponse, headers: dict[str, str]) -> None:
            self._begin(200, headers | {"Transfer-Encoding": "chunked"})
            try:
                for line in meddler.watched(call, proxy.follow(answer)):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.wfile.write(b"0\r\n\r\n")
            except (urllib3.exceptions.HTTPError, ValueError):
                self.close_connection = True  # the watch broke off, and breaks off for the caller too
            finally:
                answer.close()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_call  # noqa: N815

    return Handler
