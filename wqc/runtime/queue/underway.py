"""The attempts under way, by lane, counted as they change: a queue may have thousands, and looks often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wqc.runtime.queue.book import Attempts


class UnderWay:
    def __init__(self) -> None:
        self._seen: dict[bytes, tuple[str, bool]] = {}
        """By item: the lane, and whether its pod runs."""
        self._counts: Counter[tuple[str, bool]] = Counter()
        self._hindered: dict[bytes, Attempts] = {}

    def see(self, attempts: Attempts) -> None:
        """Something has changed about them."""
        key = attempts.key
        if before := self._seen.pop(key, None):
            self._counts[before] -= 1
        is_under_way = attempts.stage == "active" and bool(attempts.jobs)
        if is_under_way:
            job = attempts.latest
            now = self._seen[key] = (job.lane, job.running)
            self._counts[now] += 1
        if is_under_way and attempts.last_hindered.hindrance:
            self._hindered[key] = attempts
        else:
            self._hindered.pop(key, None)

    def by_lane(self) -> Mapping[str, int]:
        """How many items, by the lane that their Jobs name."""
        found: Counter[str] = Counter()
        for (lane, _), count in self._counts.items():
            found[lane] += count
        return +found

    def running(self) -> set[str]:
        """The lanes in which the pod of one runs."""
        return {lane for (lane, runs), count in self._counts.items() if runs and count}

    def hindered(self) -> list[Attempts]:
        """Those that can't start, or of which the attempt before couldn't: first who was seen so first."""
        return list(self._hindered.values())
