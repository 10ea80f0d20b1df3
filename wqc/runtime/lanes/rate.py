"""How many items end per second."""

from collections import deque

WINDOW = 60.0
"""Seconds that a rate is measured over."""


class Rate:
    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def observe(self, now: float, count: int) -> None:
        """`count` items have ended so far."""
        self._seen.append((now, count))
        while len(self._seen) > 2 and self._seen[1][0] <= now - WINDOW:
            self._seen.popleft()

    def per_second(self) -> float:
        if not self._seen or self._seen[-1][0] <= self._seen[0][0]:
            return 0.0
        (since, before), (now, count) = self._seen[0], self._seen[-1]
        return round(max(0, count - before) / (now - since), 4)
