"""How many items end per second."""

from collections import deque

WINDOW = 60.0
"""Seconds that a rate is measured over."""


class Rate:
    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()
        """When how many had ended since the first look."""
        self._count = 0

    @property
    def has_begun(self) -> bool:
        return bool(self._seen)

    def begin(self, now: float, count: int) -> None:
        """What has ended before isn't this run's work. Once is enough."""
        if not self._seen:
            self.observe(now, count)

    def observe(self, now: float, count: int) -> None:
        """`count` items have ended so far, but for those that were forgotten, or are tried again."""
        ended = self._seen[-1][1] + max(0, count - self._count) if self._seen else 0
        self._count = count
        self._seen.append((now, ended))
        while len(self._seen) > 2 and self._seen[1][0] <= now - WINDOW:
            self._seen.popleft()

    def per_second(self) -> float:
        if not self._seen or self._seen[-1][0] <= self._seen[0][0]:
            return 0.0
        (since, before), (now, ended) = self._seen[0], self._seen[-1]
        return round((ended - before) / (now - since), 4)
