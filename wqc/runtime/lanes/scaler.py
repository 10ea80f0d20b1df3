"""A lane's parallelism as it goes up and down."""

from wqc.contract.settings import Lane
from wqc.runtime.lanes.arrivals import Arrivals, Seen
from wqc.runtime.lanes.autoscale import Load, wanted

STEP_DOWN = 30.0
"""Seconds between two steps down."""


class SlotTime:
    """The mean time that an item takes up a slot: what the file states as `takes` until one is seen."""

    WEIGHT = 0.1
    """Of the newest, in the running mean."""

    def __init__(self, stated: float | None) -> None:
        self.mean = stated
        self._seen = False

    def add(self, seconds: float) -> None:
        seconds = max(seconds, 0.001)
        if not self._seen or self.mean is None:
            self.mean = seconds
        else:
            self.mean += self.WEIGHT * (seconds - self.mean)
        self._seen = True


class Scaler:
    def __init__(self, lane: Lane, arrives: float | None, deadline: float, now: float) -> None:
        self._least = lane.parallelism.min
        self._most = lane.parallelism.max
        self._deadline = deadline
        self._arrivals = Arrivals(arrives, now)
        self._stepped_down = now
        self.parallelism = lane.parallelism.min

    def arrived(self, now: float) -> None:
        self._arrivals.add(now)

    def seen(self, now: float) -> Seen:
        return self._arrivals.seen(now)

    def go_on(self, seen: Seen, now: float) -> None:
        """From the arrivals that another manager saw."""
        self._arrivals.go_on(seen, now)

    def interval(self, now: float) -> float | None:
        """Seconds between two new items; None while that is not known."""
        return self._arrivals.interval(now)

    def scale(self, backlog: int, slot: float | None, now: float) -> int:
        """The parallelism from now on."""
        load = Load(backlog, self._arrivals.interval(now), slot)
        target = wanted(self.parallelism, load, self._least, self._most, self._deadline)
        if target > self.parallelism:
            self.parallelism = target
        elif target < self.parallelism and now - self._stepped_down >= STEP_DOWN:
            self.parallelism = max(target, self.parallelism - 1)
            self._stepped_down = now
        return self.parallelism
