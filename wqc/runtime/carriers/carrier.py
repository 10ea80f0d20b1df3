"""What the manager asks of a carrier, wherever it runs."""

from typing import Protocol

from wqc.runtime.sources.source import SourceError


class NotAccepted(SourceError):
    """The service will never take this item as it is. The text is for people."""


class Carrier(Protocol):
    async def publish(self, name: str, version: str, text: str) -> None:
        """Returns once the service has the item for good, as safely as it keeps any.

        An item may be published twice; its readers know by name and version that it is one. `text`: its data
        as JSON. Raises SourceError while the service can't take it; NotAccepted.
        """
        ...

    async def close(self) -> None: ...
