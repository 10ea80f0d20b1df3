"""An HTTP server that answers what a test says, however wrong."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from support.ports import free_port

TLS_HELLO = b"\x16"
"""What a client of TLS says first, who waits for an answer to it."""

Behaviour = Callable[[str, socket.socket], None]
"""The request's first line, and the connection to answer on."""


def http(status: int, body: str | bytes, kind: str = "application/json", *headers: str) -> bytes:
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, "Connection: close", *headers, "", ""]).encode() + content


@contextmanager
def server(
    behaviour: Behaviour, heads: list[str] | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """Its address. Every connection is answered once, in a thread of its own; `heads` gets what was asked."""
    port = free_port()
    listener = socket.create_server(("127.0.0.1", port))
    open_connections: list[socket.socket] = []

    def answer(plain: socket.socket) -> None:
        try:
            connection = tls.wrap_socket(plain, server_side=True) if tls else plain
        except OSError:
            plain.close()
            return
        with connection:
            request = b""
            try:
                while b"\r\n\r\n" not in request and not request.startswith(TLS_HELLO):
                    piece = connection.recv(4096)
                    if not piece:
                        return
                    request += piece
                if heads is not None:
                    heads.append(request.decode())
                behaviour(request.split(b"\r\n", 1)[0].decode(errors="replace"), connection)
            except OSError:
                pass  # the other side has had enough

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            open_connections.append(connection)
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in open_connections:
            connection.close()


def always(reply: bytes) -> Behaviour:
    return lambda request, connection: connection.sendall(reply)
