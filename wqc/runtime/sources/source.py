"""What the manager asks of a source, wherever it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

LEAST_REMEMBERED = 60.0
"""Seconds, or all of the forgetting's where that is less: nothing that is done is forgotten sooner."""


class SourceError(Exception):
    """It can't say now: it is unreachable, or what it says can't be. The text is for people."""


class NoSuchItem(SourceError):
    """It doesn't have the item (any more)."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All items of a source, in order."""

    versions: Mapping[str, str]
    """By name; "" where the source knows none."""
    settling: bool = False
    """There is more that isn't complete yet, such as files that are still being written."""
    wants_done: bool = False
    """The source keeps each item until it is told that others have it: it is a HoldingSource."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Items that go to the source's `.failed` stream, and why; their data is what a reader there gets."""
    notice: str = ""
    """What people should know though the listing is good, such as what a broker has lost."""
    left_out: int = 0
    """How many things it has that should be items and can't be; `notice` says why."""
    remember: float | None = None
    """An item that isn't listed any more comes back within so many seconds, if ever; None: who knows."""


class Source(Protocol):
    """Raises SourceError."""

    async def list(self) -> Listing: ...

    async def get(self, name: str) -> str:
        """The item's data as JSON. Raises also NoSuchItem."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class HoldingSource(Source, Protocol):
    """A source that lets go of an item only when told so, as a broker does with a message."""

    async def done(self, name: str) -> None:
        """Others have the item. Told again, or of an item that it doesn't have, it does nothing."""
        ...


@runtime_checkable
class BoundedSource(HoldingSource, Protocol):
    """A holding source that takes no more messages from a broker than somebody can do with."""

    def want(self, count: int) -> None:
        """It needn't hold more than so many items at a time. Until it is told, it has a bound of its own."""
        ...
