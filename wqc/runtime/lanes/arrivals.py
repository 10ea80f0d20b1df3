"""The mean time between two new items, over a long window."""

from collections import deque

WINDOW = 3600.0
"""Seconds that arrivals are counted over."""
TRUST = 600.0
"""Seconds that what the file states as `arrives` weighs as much as what was seen."""


class Arrivals:
    """`stated`: what the file says, in seconds, or None. Times are on any one clock."""

    def __init__(self, stated: float | None, now: float) -> None:
        self._stated = stated
        self._since = now
        self._times: deque[float] = deque()

    def add(self, now: float) -> None:
        self._times.append(now)

    def interval(self, now: float) -> float | None:
        """Seconds; None while nothing is known or nothing arrives."""
        while self._times and self._times[0] < now - WINDOW:
            self._times.popleft()
        seen = min(now - self._since, WINDOW)
        count = float(len(self._times))
        if self._stated:
            seen += TRUST
            count += TRUST / self._stated
        return seen / count if count and seen > 0 else None
