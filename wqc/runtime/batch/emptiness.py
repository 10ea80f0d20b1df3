"""When a queue that is empty now is empty for good."""

import math

from wqc.runtime.batch.messages import Count


class Emptiness:
    """After messages have been seen, or after `wait`, once nothing is left for `settled`. Seconds.

    One look isn't enough: what a broker counts lags behind, and a message may be between two counts. One that
    came and went between two looks is seen by what the broker has counted so far.
    """

    def __init__(self, wait: float, settled: float, now: float) -> None:
        self._wait_until = now + wait
        self._settled = settled
        self._seen = False
        self._so_far: tuple[int, ...] | None = None
        self._empty_since = math.inf

    def seen(self) -> None:
        self._seen = True
        self.unknown()

    def unknown(self) -> None:
        """Nobody could say how many are left."""
        self._empty_since = math.inf

    def is_final(self, count: Count, now: float) -> bool:
        if self._has_moved(count.so_far) or count.left:
            self.seen()
            return False
        self._empty_since = min(self._empty_since, now)
        return (self._seen or now >= self._wait_until) and now >= self._empty_since + self._settled

    def _has_moved(self, so_far: tuple[int, ...]) -> bool:
        before, self._so_far = self._so_far, so_far
        # zeros: the broker counts anew
        return before is not None and so_far != before and any(so_far)
