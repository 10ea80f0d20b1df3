"""One queue: start, watch, hand on, record, finish, in the order of promise 8.

All state is in the Jobs and the ledger; every step changes nothing the second time.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence, Set
from typing import Any

from wqc.contract.limits import FINISHED_JOBS
from wqc.contract.names import item_hash
from wqc.contract.settings import QueueSettings
from wqc.patterns.item import Item
from wqc.runtime.book import Attempts, Book
from wqc.runtime.failure import failure_text
from wqc.runtime.graph import FAILED, Port, Stuck
from wqc.runtime.held import Held
from wqc.runtime.ledger import DamagedLedger, Ledger
from wqc.runtime.logs import log
from wqc.runtime.origin import Offer, Origin
from wqc.runtime.overdue import Overdue
from wqc.runtime.pause import Pause
from wqc.runtime.periods import Periods
from wqc.runtime.rate import Rate
from wqc.runtime.rollout import Rollout
from wqc.runtime.starter import AT_ONCE, Starter
from wqc.runtime.status import Failure, QueueStatus
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import Changed, Gone, JobStore, Listed, Refused
from wqc.runtime.templates import Templates
from wqc.runtime.text import decode
from wqc.runtime.verdict import ItemFailed, Lost, Succeeded, decisive, verdict
from wqc.runtime.waiting import until_set

LEAST_KEEP = 60.0
PAUSED_IN_FILE = "paused in the workflow's file"
MESSAGE_SHOWN = 400
"""Characters of a failed worker's message that the status has."""

HandOn = Callable[[Sequence[Port], Job, str, Callable[[], None]], Origin]
"""(ports, the finished Job, the data that goes on, what to call when every reader has it)."""


class Queue:
    def __init__(
        self,
        workflow: str,
        settings: QueueSettings,
        templates: Templates,
        rollout: Rollout,
        owner: dict[str, Any],
        store: JobStore,
        ledger: Ledger,
        periods: Periods,
        hand_on: HandOn,
        failed_is_read: bool,
    ) -> None:
        self.name = settings.queue
        self._settings = settings
        self._store = store
        self._ledger = ledger
        self._templates = templates
        self._rollout = rollout
        self._periods = periods
        self._hand_on = hand_on
        self._failed_is_read = failed_is_read
        self._book = Book()
        self._pause = Pause(self.name, periods)
        """From starting; `_write_pause` from recording."""
        self._write_pause = Pause(self.name, periods)
        self._starter = Starter(
            workflow,
            settings,
            templates,
            rollout,
            owner,
            store,
            self._book,
            self._pause,
            periods,
            self._begun,
        )
        self._changed: dict[bytes, None] = {}
        self._overdue = Overdue(self._book, store, periods.lost_node)
        self._wake = asyncio.Event()
        self._ledger_loaded = False
        self._sure = False
        self._paused = False
        self._to_forget: set[bytes] = set()
        self._rate = Rate()
        self.held = Held(self._book, ledger, self._wake.set)

    # --- what others tell it ---

    def offer(self, offer: Offer) -> None:
        """An item for this queue. It is taken at once if the queue has it already."""
        key = self.key(offer.delivery.name, offer.delivery.version)
        if key in self._ledger or key in self._book:
            offer.take()
        else:
            self._starter.arrived(offer)
            self._starter.put(key, offer)
            self._wake.set()

    def withdraw(self, offer: Offer) -> None:
        """The item isn't there any more; if it isn't started yet, it never is."""
        offer.withdrawn = True
        key = self.key(offer.delivery.name, offer.delivery.version)
        found = self._starter.discard(key)
        if found and found is not offer:
            self._starter.put(key, found)  # the same item's next version
        self._wake.set()

    def look_again(self) -> None:
        """What kept it from starting something may be over."""
        self._wake.set()

    def pause(self, paused: bool) -> None:
        """A person wants it to start nothing, or to go on."""
        self._paused = paused
        self._wake.set()

    @property
    def recorded(self) -> Set[bytes]:
        """The keys of finished items."""
        return self._ledger.recorded

    def key(self, name: str, version: str) -> bytes:
        """What an item is recorded as."""
        return item_hash(name, version if self._settings.rework == "on_change" else "")

    def forget(self, keys: Collection[bytes]) -> None:
        """These finished items never come back; if they do, they are new ones."""
        self._to_forget.update(keys)
        self._wake.set()

    def learn(self, change: Listed | Changed | Gone) -> None:
        """What the store says of this queue's Jobs."""
        match change:
            case Listed(jobs):
                listed = {job.job for job in jobs}
                for name in self._book.job_names():
                    if name not in listed:
                        self._forget(name)
                for job in jobs:
                    self._note(job)
                self._sure = True
            case Changed(job):
                self._note(job)
            case Gone(name):
                self._forget(name)
        self._wake.set()

    def doubt(self) -> None:
        """The store can't say which Jobs there are: start nothing (promise 5)."""
        self._sure = False

    @property
    def knows(self) -> bool:
        """What is finished and what runs is known; only then can an offer be judged."""
        return self._sure and self._ledger_loaded

    @property
    def has_judged(self) -> bool:
        """All that it was told about is judged: it is known which items are held."""
        return self.knows and not self._changed

    @property
    def idle(self) -> bool:
        """Nothing is left to do about the items that it has."""
        unfinished = self._book.count("active", "stray", "retry", "recording", "finishing")
        handing = any(not _is_held(attempts) for attempts in self._book.at("handing"))
        return self.has_judged and not (unfinished or handing or self._starter.waiting)

    @property
    def stuck(self) -> list[Stuck]:
        """Finished items that failed in a pattern node after this queue; their Jobs hold them."""
        origins = [attempts.origin for attempts in self._book.at("handing")]
        return [stuck for origin in origins if origin for stuck in origin.stuck]

    def status(self) -> QueueStatus:
        dead = self._book.at("dead")
        if self.knows:
            self._rate.observe(time.monotonic(), len(self._ledger) + len(dead))
        return QueueStatus(
            self.name,
            waiting=self._starter.waiting + self._book.count("retry"),
            running=self._book.count("active"),
            parallelism=self._starter.parallelism,
            done=len(self._ledger),
            failed=len(dead),
            handing=self._book.count("handing"),
            rate=self._rate.per_second(),
            blocked=self._blocked()
            or self._pause.reason
            or self._write_pause.reason
            or self._starter.problem(),
            knows=self.knows,
            failures=tuple(map(_failure, dead[-10:])),
        )

    # --- the loop ---

    async def run(self) -> None:
        while True:
            await until_set(self._wake, self._until_next())
            self._wake.clear()
            if self._sure:
                await self._step()

    async def load(self) -> None:
        """Read the ledger. After the first listing of Jobs: what that shows as done is in the ledger then."""
        while not self._ledger_loaded:
            await asyncio.sleep(max(0.0, self._write_pause.until - time.monotonic()))
            await self._guarded(self._load())

    async def _step(self) -> None:
        await self._guarded(self._review())
        await self._starter.start(lambda: not self._blocked())
        await self._guarded(self._record())

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Refused as refused:
            self._write_pause.refused(refused)
        except DamagedLedger as damaged:
            self._write_pause.refused(Refused(str(damaged), self._periods.backoff_limit))

    def _until_next(self) -> float | None:
        pauses = (self._pause.until, self._write_pause.until)
        times = [*self._starter.next_due(), self._ledger.due() or 0.0, *self._overdue.times(), *pauses]
        now = time.monotonic()
        coming = [at for at in times if at > now]
        return max(0.01, min(coming) - now) if coming else None

    async def _load(self) -> None:
        await self._ledger.load()
        await self._templates.load()
        await self._rollout.load()
        self._ledger_loaded = True
        self._write_pause.succeeded()

    # --- Jobs ---

    def _note(self, job: Job) -> None:
        key = self.key(job.name, job.version)
        self._book.note(key, job)
        self._changed[key] = None
        offer = self._starter.discard(key)
        if offer:
            offer.take()

    def _begun(self, job: Job) -> None:
        """Judged at once: what is started must not be started a second time."""
        self._note(job)
        attempts = self._book.get(self.key(job.name, job.version))
        if attempts:
            self._judge(attempts)

    def _forget(self, job: str) -> None:
        key = self._book.forget(job, self._ledger)
        if key:
            self._changed[key] = None

    async def _review(self) -> None:
        while self._changed:
            key = next(iter(self._changed))
            del self._changed[key]
            attempts = self._book.get(key)
            if attempts:
                self._judge(attempts)
        if self._write_pause.over:
            for attempts in await self._overdue.supersede():
                self._judge(attempts)
        if self._templates.older and self._write_pause.over:
            running = {each.latest.template for each in self._book.at("active")}
            await self._templates.forget_unused(running | self._rollout.used)
        if self._book.count("stray"):
            await self._load()
            for attempts in self._book.at("stray"):
                if attempts.key in self._ledger:
                    self._book.move(attempts, "over")
                else:
                    self._retry_later(attempts, "a later attempt's Job was deleted", 1)

    def _judge(self, attempts: Attempts) -> None:
        job = decisive(attempts.jobs.values(), attempts.latest, self._settings)
        if attempts.stage in ("recording", "finishing", "over"):
            return
        if job.hindrance:
            self._starter.judged(attempts.key, job)
        self._overdue.note(attempts.key, job)
        judged = attempts.judged
        if judged and (judged.job, judged.phase, judged.superseded) == (job.job, job.phase, job.superseded):
            return
        if job.done:
            if job.phase == "succeeded":
                self._rollout.succeeded(self._starter.lane(job).name, job.template, job.job)
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
        if job.phase in ("succeeded", "failed") and job.finished:
            self._starter.slot.add(job.finished - job.created - job.unscheduled)
        match verdict(job, self._settings):
            case None:
                self._book.move(attempts, "active")
            case Succeeded(data):
                self._rollout.succeeded(self._starter.lane(job).name, job.template, job.job)
                self._hand(attempts, job, "", data)
            case ItemFailed(reason, final=True):
                attempts.reason = reason
                if job.exit_code not in self._settings.poison:
                    self._rollout.failed(self._starter.lane(job).name, job.template)
                log(
                    logging.WARNING, "item failed", queue=self.name, item=job.name, job=job.job, reason=reason
                )
                if self._failed_is_read:
                    self._hand(attempts, job, FAILED, self._failure(job, reason))
                else:
                    self._book.move(attempts, "dead")
            case ItemFailed(reason):
                self._retry_later(attempts, reason, job.failures + 1)
            case Lost(reason):
                self._retry_later(attempts, reason, job.attempt - job.failures)

    def _failure(self, job: Job, reason: str) -> str:
        item = Item(job.name, job.version, decode(job.data))
        return failure_text(item, reason, job.exit_code, job.failures + 1, job.message or "").text

    def _retry_later(self, attempts: Attempts, reason: str, times: int) -> None:
        job = attempts.latest
        backoff = self._periods.backoff_after(times)
        since = time.time() - (job.finished or time.time())
        attempts.reason = reason
        attempts.due = time.monotonic() + min(backoff, max(0.0, backoff - since))
        self._book.move(attempts, "retry")
        log(logging.INFO, "attempt failed", queue=self.name, item=job.name, job=job.job, reason=reason)

    def _hand(self, attempts: Attempts, job: Job, output: str, data: str) -> None:
        outputs = [output]
        if job.lane:
            outputs.append(f"{job.lane}.{output}" if output else job.lane)
        self._book.move(attempts, "handing")

        def complete() -> None:
            if attempts.judged is job and attempts.stage == "handing":
                attempts.origin = None
                self._book.move(attempts, "recording")
                self._ledger.add(attempts.key, time.monotonic())
                self._wake.set()

        origin = self._hand_on([Port(self.name, each) for each in outputs], job, data, complete)
        if attempts.stage == "handing":
            attempts.origin = origin

    def _blocked(self) -> str:
        if not self._sure:
            return "its Jobs can't be listed"
        if not self._ledger_loaded:
            return "its ledger isn't read"
        if self._settings.paused:
            return PAUSED_IN_FILE
        if self._paused:
            return "paused by wqc pause"
        if self._book.count("dead") >= self._settings.failed_limit:
            return f"{self._settings.failed_limit} items failed"
        if self._book.count("handing") >= self._settings.handover:
            return f"{self._settings.handover} finished items wait for their reader"
        return ""

    # --- recording ---

    async def _record(self) -> None:
        if self._write_pause.over:
            await self._rollout.save()
        due = self._ledger.due()
        if due is not None and due <= time.monotonic() and self._write_pause.over:
            await self._ledger.flush()
            self._write_pause.succeeded()
        if self._to_forget and self._write_pause.over:
            await self._forget_items()
        for attempts in self._book.at("recording"):
            if attempts.key in self._ledger:
                self._book.move(attempts, "finishing")
        jobs = list(self._book.to_finish()) if self._write_pause.over else []
        for start in range(0, len(jobs), AT_ONCE):
            finishes = [self._guarded(self._finish(job)) for job in jobs[start : start + AT_ONCE]]
            await asyncio.gather(*finishes)
        for attempts in self._book.at("finishing"):
            if attempts.latest.done:  # perhaps by a patch whose answer was lost
                self._book.move(attempts, "over")

    async def _forget_items(self) -> None:
        """But for those whose Jobs are still there: a Job that is done says that its item is recorded."""
        keys = {key for key in self._to_forget if key not in self._book}
        await self._ledger.forget(keys)
        self._to_forget.clear()
        log(logging.INFO, "items are forgotten", queue=self.name, items=len(keys))

    async def _finish(self, job: Job) -> None:
        await self._store.finish(job, self._keep())
        self._write_pause.succeeded()
        self._book.finished(job)

    def _keep(self) -> float:
        """Seconds; the more finished Jobs there are, the less, so that they stay below FINISHED_JOBS."""
        share = max(0.0, 1.0 - self._book.count("over") / FINISHED_JOBS)
        return max(min(LEAST_KEEP, self._settings.keep), self._settings.keep * share)


def _is_held(attempts: Attempts) -> bool:
    """It failed in a pattern node and is with all its other readers: nothing more happens to it."""
    return bool(attempts.origin and attempts.origin.stuck and not attempts.origin.left)


def _failure(attempts: Attempts) -> Failure:
    job = attempts.latest
    return Failure(job.name, attempts.reason, job.job, (job.message or "")[-MESSAGE_SHOWN:])
