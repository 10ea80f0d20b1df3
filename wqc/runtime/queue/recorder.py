"""What a queue writes down about finished items, and the marks on their Jobs: the end of promise 8's order.

Every step changes nothing the second time.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from functools import partial

from wqc.contract.limits import FINISHED_JOBS
from wqc.runtime.logs import log
from wqc.runtime.periods import Periods
from wqc.runtime.queue.book import Book
from wqc.runtime.queue.hashes import Hashes
from wqc.runtime.queue.ledger import DamagedLedger, Ledger
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.starter import AT_ONCE
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import JobStore, Refused

LEAST_KEEP = 60.0


class Recorder:
    """`keep`: seconds that a finished Job stays. `done_jobs`: how many of the workflow are there."""

    def __init__(
        self,
        queue: str,
        keep: float,
        store: JobStore,
        ledger: Ledger,
        book: Book,
        periods: Periods,
        done_jobs: Callable[[], int],
    ) -> None:
        self._queue = queue
        self._most = keep
        self._store = store
        self._ledger = ledger
        self._book = book
        self._periods = periods
        self._done_jobs = done_jobs
        self._to_forget = Hashes()
        self.pause = Pause(queue, periods)

    async def guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """A refusal is waited out."""
        try:
            await work()
        except Refused as refused:
            self.pause.refused(refused)
        except DamagedLedger as damaged:
            self.pause.refused(Refused(str(damaged), self._periods.backoff_limit))

    def forget(self, keys: Collection[bytes]) -> None:
        """These finished items never come back; if they do, they are new ones."""
        self._to_forget.update(keys)

    async def record(self) -> None:
        """Raises Refused."""
        due = self._ledger.due()
        flushes = due is not None and due <= time.monotonic() and self.pause.over
        if flushes:
            await self._ledger.flush()
            self.pause.succeeded()
        if self._to_forget and self.pause.over:
            await self._forget()
        if flushes or self._ledger.due() is None:  # else they wait for the next flush
            for attempts in self._book.at("recording"):
                if attempts.key in self._ledger:
                    self._book.move(attempts, "finishing")
        jobs = list(self._book.to_finish()) if self.pause.over else []
        for start in range(0, len(jobs), AT_ONCE):
            finishes = [self.guarded(partial(self._finish, job)) for job in jobs[start : start + AT_ONCE]]
            await asyncio.gather(*finishes)
        for attempts in self._book.at("finishing"):
            if attempts.latest.done:  # perhaps by a patch whose answer was lost
                self._book.move(attempts, "over")

    async def _forget(self) -> None:
        """But for those whose Jobs are still there: a Job that is done says that its item is recorded."""
        asked = self._to_forget.copy()
        keys = Hashes(key for key in asked if key not in self._book)
        await self._ledger.forget(keys)
        self._to_forget.difference_update(asked)
        log(logging.INFO, "items are forgotten", queue=self._queue, items=len(keys))

    async def _finish(self, job: Job) -> None:
        await self._store.finish(job, self._keep())
        self.pause.succeeded()
        self._book.finished(job)

    def _keep(self) -> float:
        """Seconds; the more finished Jobs there are, the less, so that they stay below FINISHED_JOBS."""
        share = max(0.0, 1.0 - self._done_jobs() / FINISHED_JOBS)
        return max(min(LEAST_KEEP, self._most), self._most * share)
