"""What becomes of an item when one of its Jobs has changed: it is tried again, handed on, or held."""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from wqc.contract.settings import QueueSettings
from wqc.patterns.item import Item
from wqc.runtime.graph.graph import FAILED, Port
from wqc.runtime.graph.origin import Origin
from wqc.runtime.lanes.rollout import Rollout
from wqc.runtime.logs import log
from wqc.runtime.periods import Periods
from wqc.runtime.queue.book import Attempts, Book
from wqc.runtime.queue.failure import failure_text
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.overdue import Overdue
from wqc.runtime.queue.starter import Starter
from wqc.runtime.queue.verdict import ItemFailed, Lost, Succeeded, decisive, verdict
from wqc.runtime.stores.job import Job
from wqc.runtime.text import decode_known

Fetch = Callable[[], Awaitable[str]]
"""As Origin.fetch."""
HandOn = Callable[[Sequence[Port], Job, str, Fetch | None, Callable[[], None]], Origin]
"""(ports, the finished Job, the data that goes on, how to get that again if it is too large for memory, what
to call when every reader has it).
"""


class Judge:
    """`load` gets the data of an item that is apart from its Job. `changed` is called when there is something
    to do.
    """

    def __init__(
        self,
        settings: QueueSettings,
        book: Book,
        ledger: Ledger,
        starter: Starter,
        rollout: Rollout,
        overdue: Overdue,
        periods: Periods,
        hand_on: HandOn,
        failed_is_read: bool,
        load: Callable[[Job], Awaitable[str]],
        changed: Callable[[], None],
    ) -> None:
        self._queue = settings.queue
        self._settings = settings
        self._book = book
        self._ledger = ledger
        self._starter = starter
        self._rollout = rollout
        self._overdue = overdue
        self._periods = periods
        self._hand_on = hand_on
        self._failed_is_read = failed_is_read
        self._load = load
        self._changed = changed
        self._began = time.time()

    def judge(self, attempts: Attempts, data: str | None = None) -> None:
        """`data` is the item's, where its Job doesn't have it."""
        job = decisive(attempts.jobs.values(), attempts.latest, self._settings)
        if attempts.stage in ("recording", "finishing", "over"):
            return
        if job.hindrance:
            self._starter.judged(attempts.key, job)
        self._overdue.note(attempts.key, job)
        if is_judged(attempts, job):
            return
        if job.done:
            if job.phase == "succeeded":
                self._rollout.succeeded(self._starter.lane(job).name, job)
            self._book.move(attempts, "over" if attempts.key in self._ledger else "stray")
            return
        if attempts.key in self._ledger and job.phase != "active":
            self._book.move(attempts, "finishing")
            return
        if attempts.origin:
            attempts.origin.withdraw()
            attempts.origin = None
        attempts.judged = job
        if not job.hindrance:
            self._starter.judged(attempts.key, job)
        if job.phase in ("succeeded", "failed") and job.finished and not job.held:
            self._starter.slot.add(job.finished - job.created - job.unscheduled)
        match verdict(job, self._settings):
            case None:
                self._book.move(attempts, "active")
            case Succeeded(result):
                self._rollout.succeeded(self._starter.lane(job).name, job)
                if result is not None:
                    self._hand(attempts, job, "", result, None)
                else:
                    self._hand_item(attempts, job, "", data, lambda own: own or "null")
            case ItemFailed(reason, final=True):
                attempts.reason = reason
                if job.exit_code not in self._settings.poison and not job.held:
                    self._rollout.failed(self._starter.lane(job).name, job)
                is_news = not job.finished or job.finished >= self._began
                log(
                    logging.WARNING if is_news else logging.INFO,
                    "item failed" if is_news else "item failed before this manager began",
                    queue=self._queue,
                    item=job.name,
                    job=job.job,
                    reason=reason,
                )
                if self._failed_is_read:
                    self._hand_item(attempts, job, FAILED, data, partial(self._failure, job, reason))
                else:
                    self._book.move(attempts, "dead")
            case ItemFailed(reason):
                self.retry_later(attempts, reason, job.failures + 1)
            case Lost(reason):
                self.retry_later(attempts, reason, 0 if job.cut_off else job.attempt - job.failures)

    def _failure(self, job: Job, reason: str, data: str) -> str:
        item = Item(job.name, job.version, decode_known(data) if data else None)
        return failure_text(item, reason, job.exit_code, job.failures + 1, job.message or "").text

    def retry_later(self, attempts: Attempts, reason: str, times: int) -> None:
        """`times`: how often in a row it came to that; 0: it is nobody's fault, and tried again at once."""
        job = attempts.latest
        backoff = self._periods.backoff_after(times) if times else 0.0
        since = time.time() - (job.finished or time.time())
        attempts.reason = reason
        attempts.due = time.monotonic() + min(backoff, max(0.0, backoff - since))
        self._book.move(attempts, "retry")
        log(
            logging.INFO,
            "attempt failed",
            queue=self._queue,
            item=job.name,
            job=job.job,
            reason=reason,
        )

    def _hand_item(
        self, attempts: Attempts, job: Job, output: str, data: str | None, form: Callable[[str], str]
    ) -> None:
        """What goes on is made from the item's own data, in that form."""
        if job.content == "here" or job.held:
            self._hand(attempts, job, output, form(job.data), None)
            return
        if data is None:
            self.retry_later(attempts, "its item's data isn't there", 1)
            return

        async def fetch() -> str:
            return form(await self._load(job))

        self._hand(attempts, job, output, form(data), fetch)

    def _hand(self, attempts: Attempts, job: Job, output: str, data: str, fetch: Fetch | None) -> None:
        outputs = [output]
        if job.lane:
            outputs.append(f"{job.lane}.{output}" if output else job.lane)
        self._book.move(attempts, "handing")

        def complete() -> None:
            if attempts.judged is job and attempts.stage == "handing":
                attempts.origin = None
                self._book.move(attempts, "recording")
                self._ledger.add(attempts.key, time.monotonic(), failed=output == FAILED)
                self._changed()

        origin = self._hand_on([Port(self._queue, each) for each in outputs], job, data, fetch, complete)
        if attempts.stage == "handing":
            attempts.origin = origin


def is_judged(attempts: Attempts, job: Job) -> bool:
    """The item was, by that Job as it is now."""
    judged = attempts.judged
    return judged is not None and (
        (judged.job, judged.phase, judged.superseded) == (job.job, job.phase, job.superseded)
    )
