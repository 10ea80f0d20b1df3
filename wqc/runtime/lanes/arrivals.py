"""The mean time between two new items, over a long window."""

from collections import deque
from dataclasses import dataclass

WINDOW = 3600.0
"""Seconds that arrivals are counted over."""
STEP = 60.0
"""Arrivals within so many seconds are counted together."""
TRUST = 600.0
"""Seconds that what the file states as `arrives` weighs as much as what was seen."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the next manager goes on with. What comes while there is none is backlog: it isn't counted."""

    seconds: float
    """How long arrivals were counted."""
    counts: tuple[tuple[float, int], ...]
    """How long ago so many came."""


class Arrivals:
    """`stated`: what the file says, in seconds, or None. Times are on any one clock."""

    def __init__(self, stated: float | None, now: float) -> None:
        self._stated = stated
        self._since = now
        self._counts: deque[tuple[float, int]] = deque()

    def add(self, now: float) -> None:
        if self._counts and now < self._counts[-1][0] + STEP:
            at, count = self._counts.pop()
            self._counts.append((at, count + 1))
        else:
            self._counts.append((now, 1))

    def interval(self, now: float) -> float | None:
        """Seconds; None while nothing is known or nothing arrives."""
        self._drop_old(now)
        seen = min(now - self._since, WINDOW)
        count = float(sum(count for _, count in self._counts))
        if self._stated:
            seen += TRUST
            count += TRUST / self._stated
        return seen / count if count and seen > 0 else None

    def seen(self, now: float) -> Seen:
        self._drop_old(now)
        return Seen(min(now - self._since, WINDOW), tuple((now - at, count) for at, count in self._counts))

    def go_on(self, seen: Seen, now: float) -> None:
        """From what another manager saw."""
        self._since = now - seen.seconds
        self._counts = deque((now - ago, count) for ago, count in seen.counts)

    def _drop_old(self, now: float) -> None:
        while self._counts and self._counts[0][0] < now - WINDOW:
            self._counts.popleft()
