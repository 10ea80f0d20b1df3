"""What fills a broker's queue, topic or list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wqc.runtime.sources.source import SourceError


class Absent(SourceError):
    """The queue isn't there, and isn't to be made."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`name`: where the broker's messages have one, what is put there twice is the same item by it."""

    name: str
    body: bytes


class Filler(Protocol):
    """Raises SourceError."""

    async def put(self, entries: Sequence[Entry]) -> None:
        """The broker has them as safely as it keeps any once this returns. Raises also Absent."""
        ...

    async def close(self) -> None: ...
