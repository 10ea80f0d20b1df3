"""What neither git nor a Job says, pauses and people's requests: a few texts that outlive the manager."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class State:
    """`version` changes with every write; "" while nothing was ever written."""

    entries: Mapping[str, str] = field(default_factory=dict)
    version: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """It may have changed since it was told: it can't be read. `reason`: for people."""

    reason: str


class Conflict(Exception):
    """Somebody else wrote meanwhile."""


class StateStore(Protocol):
    """Written by the manager and by people's commands at the same time.

    All methods but `changes` raise Refused.
    """

    def changes(self) -> AsyncIterator[State | Unread]:
        """The state as it is, then after each change or failure; never ends by itself."""
        ...

    async def read(self) -> State: ...

    async def write(self, changes: Mapping[str, str | None], version: str | None = None) -> State:
        """Set entries, or take them out with None; the others stay as they are.

        Raises also Conflict: `version` is given and isn't the current one, or somebody else has changed one
        of these entries since it was last seen here. Nothing is written then.
        """
        ...

    async def close(self) -> None: ...
