"""What the manager asks of a source, wherever it runs."""

from dataclasses import dataclass
from typing import Protocol


class SourceError(Exception):
    """It can't say now: it is unreachable, or what it says can't be. The text is for people."""


class NoSuchItem(SourceError):
    """It doesn't have the item (any more)."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All items of a source, in order."""

    versions: dict[str, str]
    """By name; "" where the source knows none."""
    settling: bool = False
    """There is more that isn't complete yet, such as files that are still being written."""


class Source(Protocol):
    """Raises SourceError."""

    async def list(self) -> Listing: ...

    async def get(self, name: str) -> str:
        """The item's data as JSON. Raises also NoSuchItem."""
        ...

    async def close(self) -> None: ...
