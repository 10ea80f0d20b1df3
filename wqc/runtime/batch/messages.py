"""What a batch asks of a broker, whichever it is."""

from dataclasses import dataclass
from typing import Any, Protocol

from wqc.runtime.sources.body import Body
from wqc.runtime.sources.source import SourceError


class Lost(SourceError):
    """The message isn't this pod's any more: the broker delivers it again, or has lost it."""


@dataclass(frozen=True, slots=True)
class Message:
    """`deliveries`: how often the broker has handed it out, 1 the first time; 0 where it doesn't count. Redis
    doesn't count those after which it was given back.
    """

    name: str
    """For people."""
    body: Body
    deliveries: int
    receipt: Any
    """What the broker knows this delivery by."""


@dataclass(frozen=True, slots=True)
class Count:
    """`left`: messages that wait or are being worked on, by anybody. `so_far`: what the broker has counted of
    those that came or were handed out. It grows with each, and begins again when the broker has lost it.
    """

    left: int
    so_far: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a message is given up. `message` is what the worker said last."""

    reason: str
    attempts: int
    exit_code: int | None = None
    message: str = ""


class MessageQueue(Protocol):
    """One pod's share of a queue. Raises SourceError; after that every message taken before may be lost."""

    async def open(self) -> None:
        """The queue is there and can be read."""
        ...

    async def take(self) -> Message | None:
        """A message that nobody else gets while this connection stands; None if none waits now."""
        ...

    async def acknowledge(self, message: Message) -> None:
        """The broker has forgotten it once this returns. Raises Lost."""
        ...

    async def fail(self, message: Message, failure: Failure) -> None:
        """It is in the queue `….failed`, and acknowledged. Raises Lost."""
        ...

    async def give_back(self, message: Message) -> None:
        """Others may have it at once."""
        ...

    async def count(self) -> Count: ...

    async def close(self) -> None: ...
