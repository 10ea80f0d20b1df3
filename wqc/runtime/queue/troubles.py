"""Items that nothing can be done with for now: people hear why, and each is left alone for a while."""

import logging
import time
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from wqc.runtime.logs import log
from wqc.runtime.manager.status import NAME_SHOWN, Trouble
from wqc.runtime.obstacles import Kind
from wqc.runtime.periods import Periods

K = TypeVar("K", bound=Hashable)


class Troubles(Generic[K]):
    """`cannot`: what can't be done with them, as "started". `first`: seconds until the second try; doubled
    each further time. `who`: whom the log names, as `queue="thumbs"`.
    """

    def __init__(self, cannot: str, first: float, periods: Periods, **who: str) -> None:
        self._cannot = cannot
        self._first = first
        self._periods = periods
        self._who = who
        self._troubles: dict[K, Trouble] = {}
        self._times: dict[K, int] = {}
        self._due: dict[K, float] = {}

    def __len__(self) -> int:
        return len(self._troubles)

    def __iter__(self) -> Iterator[K]:
        return iter(self._troubles)

    def __contains__(self, key: object) -> bool:
        return key in self._troubles

    def items(self) -> Iterator[tuple[K, Trouble]]:
        return iter(self._troubles.items())

    def all(self) -> list[Trouble]:
        return list(self._troubles.values())

    def times(self) -> Iterable[float]:
        """When they may be tried again, on the monotonic clock."""
        return self._due.values()

    def due(self, key: K) -> float:
        """When it may be tried again, on the monotonic clock; 0 if nothing is wrong with it."""
        return self._due.get(key, 0.0)

    def note(self, key: K, name: str, why: str, kind: Kind) -> float:
        """It can't be done. Returns when it may be tried again, on the monotonic clock."""
        trouble = Trouble(name[:NAME_SHOWN], why, kind=kind)
        if self._troubles.get(key) != trouble:
            log(logging.WARNING, f"item can't be {self._cannot}", **self._who, item=trouble.item, reason=why)
        self._troubles[key] = trouble
        times = self._times[key] = self._times.get(key, 0) + 1
        due = self._due[key] = time.monotonic() + self._periods.doubled(self._first, times)
        return due

    def settle(self, key: K) -> None:
        """It could be done, or needn't be any more."""
        self._troubles.pop(key, None)
        self._times.pop(key, None)
        self._due.pop(key, None)

    def try_all(self) -> None:
        """What was wrong with all of them may be over."""
        self._due.clear()
