"""What a running workflow says about itself: to `wqc run`, to probes, and in the workflow's state."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from wqc.runtime.obstacles import Kind
from wqc.runtime.text import decode, encode

STATUS = "status"
"""The entry of the state that holds a Report."""
TROUBLES_SHOWN = 10
REASON_SHOWN = 400
"""Characters of each one's reason."""
NAME_SHOWN = 200
"""Characters of an item's name that people are told: the state has to fit into one ConfigMap."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An item that failed for good."""

    item: str
    reason: str
    job: str
    message: str
    """The end of what its worker wrote, as far as that is known."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """An item that nothing can be done with for now."""

    item: str
    reason: str
    lane: str = ""
    kind: Kind = ""


@dataclass(frozen=True, slots=True)
class Troubled:
    """All such items of a station or source."""

    count: int = 0
    first: tuple[Trouble, ...] = ()
    """At most ten of them."""


def troubled(found: Sequence[Trouble]) -> Troubled:
    shown = found[:TROUBLES_SHOWN]
    return Troubled(len(found), tuple(replace(each, reason=each.reason[:REASON_SHOWN]) for each in shown))


def in_words(found: Sequence[Trouble], cannot: str) -> str:
    """The first of them, and how many more there are. `cannot`: what can't be done with them: "started"."""
    if not found:
        return ""
    first, more = found[0], len(found) - 1
    said = f"{first.item}: {first.reason}"
    if first.lane:
        said = f"{first.lane}: {said}"
    return f"{said}; {more} more {'item' if more == 1 else 'items'} can't be {cannot}" if more else said


@dataclass(frozen=True, slots=True)
class QueueStatus:
    queue: str
    waiting: int
    running: int
    parallelism: int
    """How many may run at a time, over all lanes; the manager scales it."""
    done: int
    """All that the ledger remembers, but for those that failed."""
    failed: int
    """Items that failed for good: those that are held, and those that a reader of `.failed` has."""
    held: int
    """Of those, the ones that nobody has taken."""
    handing: int
    """Finished items that a reader doesn't have yet."""
    oldest: float
    """Seconds that the item has waited for its first attempt that waits longest; 0 if none does."""
    arrival_interval: float | None
    """Mean seconds between two new items."""
    slot_time: float | None
    """Mean seconds that an item takes up a slot."""
    rate: float
    """Items that end, per second, over the last minute."""
    blocked: str
    """What keeps it or one of its items from starting, for people; "" if nothing does."""
    knows: bool
    """What runs and what is finished is known."""
    failures: tuple[Failure, ...]
    """The last held items, at most ten."""
    notice: str = ""
    """What people should know though nothing is in the way of it."""
    troubled: Troubled = Troubled()
    """Items that can't be started."""
    blocked_by: Kind = ""
    """What kind of thing `blocked` speaks of."""
    retrying: Troubled = Troubled()
    """Of those that wait, the ones that had an attempt; the reason is what became of it."""

    @property
    def seconds_left(self) -> float | None:
        """None if there is no telling."""
        left = self.waiting + self.running
        return left / self.rate if left and self.rate else None


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """A pattern node or a source whose `.failed` nobody reads."""

    node: str
    failed: int
    """Items that failed in it and are held."""
    blocked: str
    """What keeps it from holding more, for people."""
    failures: tuple[Failure, ...]
    """The last of them, at most ten."""
    troubled: Troubled = Troubled()
    """Items that can't be held."""


@dataclass(frozen=True, slots=True)
class CarrierStatus:
    carrier: str
    waiting: int
    done: int
    """Items that were published, as far as they are remembered."""
    rate: float
    """Items published per second, over the last minute."""
    blocked: str
    """What keeps it or one of its items from being published, for people; "" if nothing does."""
    knows: bool
    """What was published is known."""
    troubled: Troubled = Troubled()
    """Items that can't be published."""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    source: str
    problem: str
    """What is wrong with it or with one of its items, for people."""
    up: bool = True
    """It can be listed."""
    left_out: int = 0
    """Items that no queue can take, whatever happens: their names are too long, or no text."""
    troubled: Troubled = Troubled()
    """Items that can't be read, those with too long names among them."""
    settling: bool = False
    """It has more that isn't complete yet, such as files that are still being written."""


@dataclass(frozen=True, slots=True)
class Status:
    sources: tuple[SourceStatus, ...]
    queues: tuple[QueueStatus, ...]
    nodes: tuple[NodeStatus, ...]
    idle: bool
    """All that the sources list is worked off, but for what failed."""
    stalled: bool = False
    """It isn't, and nothing goes on until a person does something."""
    carriers: tuple[CarrierStatus, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """`time`: seconds since the epoch."""

    time: float
    status: Status


def encode_report(status: Status) -> str:
    return encode(msgspec.to_builtins(Report(time.time(), status)))


def decode_report(text: str) -> Report:
    """Raises ValueError."""
    try:
        return msgspec.convert(decode(text), Report)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a report: {error}") from None
