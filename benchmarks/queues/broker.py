"""What a measured broker is."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

BODY = b'{"n": 12345, "text": "some words that a message may have"}'


class Broker(Protocol):
    """A server that runs."""

    kind: str
    """As the language calls the source."""
    options: Mapping[str, Any]
    """Its settings."""

    def fill(self, count: int) -> None:
        """Add so many messages with BODY to the queue."""
        ...

    async def plain(self, count: int) -> None:
        """Take so many messages with the client alone, and be done with each."""
        ...


class Started(Protocol):
    def __call__(self, folder: Path) -> AbstractContextManager[Broker]: ...
