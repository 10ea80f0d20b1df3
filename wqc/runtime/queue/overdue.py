"""Attempts whose nodes are lost: their pods should be gone, and aren't (promise 15)."""

import time
from collections.abc import Iterable
from dataclasses import replace

from wqc.runtime.queue.book import Attempts, Book
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import JobStore

LONGEST_GRACE = 600.0
"""Seconds that a pod may take to end; if our clock says more, the clock is wrong."""


class Overdue:
    """`patience`: seconds that such a pod is waited for, once it should be gone and is seen."""

    def __init__(self, book: Book, store: JobStore, patience: float) -> None:
        self._book = book
        self._store = store
        self._patience = patience
        self._due: dict[bytes, float] = {}

    def note(self, key: bytes, job: Job) -> None:
        if job.overdue and not job.superseded:
            grace = min(max(0.0, job.overdue - time.time()), LONGEST_GRACE)
            self._due.setdefault(key, time.monotonic() + grace + self._patience)

    def times(self) -> Iterable[float]:
        """When their nodes count as lost, on the monotonic clock."""
        return self._due.values()

    async def supersede(self) -> list[Attempts]:
        """Mark those whose time has come. Raises Refused; the rest is marked the next time."""
        marked = []
        for key, due in list(self._due.items()):
            attempts = self._book.get(key)
            if not attempts or attempts.stage != "active" or not attempts.latest.overdue:
                del self._due[key]
            elif due <= time.monotonic():
                job = attempts.latest
                await self._store.supersede(job)
                del self._due[key]
                self._book.note(key, replace(job, superseded=True))
                marked.append(attempts)
        return marked
