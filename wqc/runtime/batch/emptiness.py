"""When a queue that is empty now is empty for good."""

import math


class Emptiness:
    """After messages have been seen, or after `wait`, once nothing is left for `settled`. Seconds.

    One look isn't enough: what a broker counts lags behind, and a message may be between two counts.
    """

    def __init__(self, wait: float, settled: float, now: float) -> None:
        self._wait_until = now + wait
        self._settled = settled
        self._seen = False
        self._empty_since = math.inf

    def seen(self) -> None:
        self._seen = True
        self.unknown()

    def unknown(self) -> None:
        """Nobody could say how many are left."""
        self._empty_since = math.inf

    def is_final(self, remaining: int, now: float) -> bool:
        if remaining:
            self.seen()
            return False
        self._empty_since = min(self._empty_since, now)
        return (self._seen or now >= self._wait_until) and now >= self._empty_since + self._settled
