"""The bodies of messages that were just read, kept so that they needn't be read again."""

from typing import Generic, TypeVar

from wqc.runtime.sources.body import Body

B = TypeVar("B", bound=Body)
MOST = 16 << 20
"""Bytes; what goes beyond is read again when it is asked for."""


class Bodies(Generic[B]):
    def __init__(self) -> None:
        self._kept: dict[str, B] = {}
        self._bytes = 0

    def put(self, name: str, body: B) -> None:
        size = body_size(body)
        if name not in self._kept and self._bytes + size <= MOST:
            self._kept[name] = body
            self._bytes += size

    def get(self, name: str) -> B | None:
        return self._kept.get(name)

    def drop(self, name: str) -> None:
        body = self._kept.pop(name, None)
        if body is not None:
            self._bytes -= body_size(body)


def body_size(body: Body) -> int:
    if isinstance(body, bytes):
        return len(body)
    return sum(len(name) + len(value) for name, value in body.items())
