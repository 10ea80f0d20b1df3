"""HTTP connections to one service, kept for the next request; no service can stretch a request's time."""

import asyncio
import http.client
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from wqc.runtime.sources.source import SourceError
from wqc.runtime.threads import in_thread

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer; a service that sends more is broken or hostile."""
KEPT = 16
PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    etag: str
    body: bytes


@dataclass(slots=True)
class _Exchange:
    """A request under way, so that it can be broken off from outside."""

    connection: http.client.HTTPConnection | None = None
    broken_off: bool = field(default=False)

    def break_off(self) -> None:
        self.broken_off = True
        if self.connection and self.connection.sock:
            with suppress(OSError):  # it has ended by itself
                self.connection.sock.shutdown(socket.SHUT_RDWR)


class Connections:
    """`url`: of the service; only scheme, host and port matter. `timeout`: seconds for a whole exchange."""

    def __init__(self, url: str, timeout: float) -> None:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._make: Callable[[], http.client.HTTPConnection] = lambda: kind(
            parts.hostname or "", parts.port, timeout=timeout
        )
        self._timeout = timeout
        self._idle: list[http.client.HTTPConnection] = []

    async def request(
        self, method: str, target: str, headers: dict[str, str], content: bytes | None = None
    ) -> Answer:
        """Raises SourceError whose text goes on after the address: "can't be reached: …"."""
        exchange = _Exchange()
        try:
            async with asyncio.timeout(self._timeout):
                return await in_thread(lambda: self._exchange(exchange, method, target, headers, content))
        except TimeoutError:
            raise SourceError(f"gave no complete answer within {self._timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise SourceError(f"can't be reached: {_cause(error)}") from None
        finally:
            if exchange.connection:
                exchange.break_off()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _exchange(
        self, exchange: _Exchange, method: str, target: str, headers: dict[str, str], content: bytes | None
    ) -> Answer:
        try:
            used = self._idle.pop()
        except IndexError:
            return self._ask(exchange, self._make(), method, target, headers, content)
        try:
            return self._ask(exchange, used, method, target, headers, content)
        except (ConnectionError, http.client.BadStatusLine):
            if exchange.broken_off:
                raise
            # the service has closed it meanwhile; every request here may be repeated
            return self._ask(exchange, self._make(), method, target, headers, content)

    def _ask(
        self,
        exchange: _Exchange,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        headers: dict[str, str],
        content: bytes | None,
    ) -> Answer:
        exchange.connection = connection
        try:
            if connection.sock is None:
                connection.connect()
            if exchange.broken_off:
                raise TimeoutError
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            body = bytearray()
            while piece := response.read1(PIECE):
                body += piece
                if len(body) > LARGEST:
                    raise SourceError(f"sends more than {LARGEST} bytes")
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
            response.close()
        except BaseException:
            connection.close()
            raise
        exchange.connection = None
        if response.will_close or len(self._idle) >= KEPT:
            connection.close()
        else:
            self._idle.append(connection)
        return Answer(response.status, response.headers.get("ETag", ""), bytes(body))


def _cause(error: Exception) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate isn't trusted: {error.verify_message}"
        case ssl.SSLError():
            return "it doesn't speak TLS"
        case socket.gaierror():
            return "its name can't be resolved"
        case TimeoutError():
            return "no answer in time"
        case http.client.RemoteDisconnected():
            return "it closed the connection without a word"
        case http.client.IncompleteRead():
            return "the answer broke off"
        case http.client.HTTPException():
            return "it doesn't speak HTTP"
        case OSError(strerror=str(text)):
            return text
        case _:
            return str(error) or type(error).__name__
