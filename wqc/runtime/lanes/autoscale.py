"""How many items a lane should work on at a time: the book's two rules, as a pure function (promise 13)."""

import math
from dataclasses import dataclass

SLACK = 0.9
"""With one slot less, the slots that are left may be busy for this share of the time at most."""


@dataclass(frozen=True, slots=True)
class Load:
    """Mean seconds between two arrivals, and that an item takes up a slot; None where that is unknown."""

    backlog: int
    interval: float | None
    slot: float | None


def wanted(now: int, load: Load, least: int, most: int, deadline: float) -> int:
    """The parallelism to go to from `now`; `deadline`: seconds in which a backlog is to be worked off.

    Up at once, and so far that items don't arrive faster than they are worked on. Down by one, while the
    slots that are left have SLACK. Unknown rates ask for nothing.
    """
    if load.slot is None:
        return _within(least, now, most)
    for_backlog = math.ceil(load.backlog * load.slot / deadline)
    return _within(least, max(_stable(now, load.slot, load.interval), for_backlog), most)


def _stable(now: int, slot: float, interval: float | None) -> int:
    busy = slot / interval if interval else 0.0
    if busy >= now:
        return math.floor(busy) + 1
    return now - 1 if busy < SLACK * (now - 1) or not busy else now


def _within(least: int, value: int, most: int) -> int:
    return max(least, min(value, most))
