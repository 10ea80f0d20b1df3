"""A message broker's queue, topic or list as a source: what is held of it is what is listed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from wqc.patterns.item import Item
from wqc.runtime.queue.failure import failure_text
from wqc.runtime.sources.body import Body, body_as_is, body_text
from wqc.runtime.sources.source import Listing, NoSuchItem

HELD = 500
"""Messages that are held at a time, at most, beside those that failed."""
NEVER_AGAIN = 3600.0
"""Seconds after which a message that is done, and that nobody can send again, needn't be remembered."""
SENT_AGAIN = 7 * 86400.0
"""Seconds within which a sender may send a message again that is the same one."""
FAILED_HELD = 1000
"""Messages that failed and nobody takes; with more of them, fewer others are held."""


@dataclass(frozen=True, slots=True)
class Held:
    """The messages that are held, in order: each one's version by its name, "" where there is none."""

    versions: Mapping[str, str]
    more: bool
    """There are others that aren't held yet."""
    remember: float | None = None
    """As a listing's."""


class Broker(Protocol):
    """One queue, topic or list of a broker. Everything raises SourceError while that isn't there; who asks
    again makes a new connection.

    A message is held from `hold` on until `done`: nobody else gets it meanwhile, and it isn't lost when this
    process dies. Its name is its identity and survives both that and a new connection, as far as the broker
    has one that does.
    """

    @property
    def notice(self) -> str:
        """What people should know though all is well, such as what was lost; "" if there is nothing."""
        ...

    async def hold(self, limit: int) -> Held:
        """Take messages until `limit` are held or none is left; fewer where they are large."""
        ...

    async def body(self, name: str) -> Body:
        """Of a message that is held. Raises NoSuchItem for another."""
        ...

    async def done(self, name: str) -> None:
        """The broker may forget the message. Nothing happens for one that isn't held."""
        ...

    async def close(self) -> None:
        """What is held goes back, where the broker has a way for that."""
        ...


class BrokerSource:
    """`format`: what a body is. What isn't that goes to the source's `.failed` stream."""

    def __init__(self, broker: Broker, format: str) -> None:
        self._broker = broker
        self._format = format
        self._wanted = HELD
        self._known: dict[tuple[str, str], str] = {}
        """By name and version of each message that is held: why it failed, or ""."""

    async def list(self) -> Listing:
        held = await self._broker.hold(self._wanted + min(len(self._failed()), FAILED_HELD))
        entries = held.versions.items()
        self._known = {entry: self._known[entry] for entry in entries if entry in self._known}
        for entry in entries:
            if entry not in self._known:
                await self._look(*entry)
        versions = {name: version for name, version in entries if (name, version) in self._known}
        return Listing(versions, held.more, True, self._failed(), self._notice(), remember=held.remember)

    def want(self, count: int) -> None:
        self._wanted = min(count, HELD)

    async def get(self, name: str) -> str:
        body = await self._broker.body(name)
        try:
            return body_text(body, self._format)
        except ValueError as error:
            return failure_text(Item(name, "", body_as_is(body)), str(error)).text

    async def done(self, name: str) -> None:
        await self._broker.done(name)

    async def close(self) -> None:
        await self._broker.close()

    async def _look(self, name: str, version: str) -> None:
        self._known[name, version] = ""
        if self._format == "bytes":
            return
        try:
            body_text(await self._broker.body(name), self._format)
        except ValueError as error:
            self._known[name, version] = str(error)
        except NoSuchItem:  # gone since
            del self._known[name, version]

    def _failed(self) -> dict[str, str]:
        return {name: why for (name, _), why in self._known.items() if why}

    def _notice(self) -> str:
        failed = len(self._failed())
        if failed <= FAILED_HELD:
            return self._broker.notice
        return f"{failed} messages failed and are held: while nobody takes them, fewer others are read"
