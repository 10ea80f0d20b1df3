"""One queue: start, watch, hand on, record, finish, in the order of promise 8.

All state is in the Jobs and the ledger; every step changes nothing the second time.
"""

import asyncio
import time
from collections.abc import Collection, Set
from typing import Any

from wqc.contract.names import item_hash
from wqc.contract.settings import QueueSettings
from wqc.runtime.book import Attempts, Book
from wqc.runtime.graph import Stuck
from wqc.runtime.held import Held
from wqc.runtime.judge import HandOn, Judge
from wqc.runtime.ledger import Ledger
from wqc.runtime.origin import Offer
from wqc.runtime.overdue import Overdue
from wqc.runtime.pause import Pause
from wqc.runtime.periods import Periods
from wqc.runtime.rate import Rate
from wqc.runtime.recorder import Recorder
from wqc.runtime.rollout import Rollout
from wqc.runtime.starter import Starter
from wqc.runtime.status import Failure, QueueStatus
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import Changed, Gone, JobStore, Listed
from wqc.runtime.templates import Templates
from wqc.runtime.waiting import until_set

PAUSED_IN_FILE = "paused in the workflow's file"
MESSAGE_SHOWN = 400
"""Characters of a failed worker's message that the status has."""


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
        self._book = Book()
        self._pause = Pause(self.name, periods)
        """From starting; the recorder's own is from writing."""
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
        self._recorder = Recorder(self.name, settings.keep, store, ledger, self._book, periods)
        self._changed: dict[bytes, None] = {}
        self._overdue = Overdue(self._book, store, periods.lost_node)
        self._wake = asyncio.Event()
        self._judge = Judge(
            settings,
            self._book,
            ledger,
            self._starter,
            rollout,
            self._overdue,
            periods,
            hand_on,
            failed_is_read,
            self._wake.set,
        )
        self._ledger_loaded = False
        self._sure = False
        self._paused = False
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
        self._recorder.forget(keys)
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
            oldest=self._starter.oldest,
            arrival_interval=self._starter.arrival_interval,
            slot_time=self._starter.slot.mean,
            rate=self._rate.per_second(),
            blocked=self._blocked()
            or self._pause.reason
            or self._recorder.pause.reason
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
            await asyncio.sleep(max(0.0, self._recorder.pause.until - time.monotonic()))
            await self._recorder.guarded(self._load())

    async def _step(self) -> None:
        await self._recorder.guarded(self._review())
        await self._starter.start(lambda: not self._blocked())
        await self._recorder.guarded(self._record())

    async def _record(self) -> None:
        if self._recorder.pause.over:
            await self._rollout.save()
        await self._recorder.record()

    def _until_next(self) -> float | None:
        pauses = (self._pause.until, self._recorder.pause.until)
        times = [*self._starter.next_due(), self._ledger.due() or 0.0, *self._overdue.times(), *pauses]
        now = time.monotonic()
        coming = [at for at in times if at > now]
        return max(0.01, min(coming) - now) if coming else None

    async def _load(self) -> None:
        await self._ledger.load()
        await self._templates.load()
        await self._rollout.load()
        self._ledger_loaded = True
        self._recorder.pause.succeeded()

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
            self._judge.judge(attempts)

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
                self._judge.judge(attempts)
        if self._recorder.pause.over:
            for attempts in await self._overdue.supersede():
                self._judge.judge(attempts)
        if self._templates.older and self._recorder.pause.over:
            running = {each.latest.template for each in self._book.at("active")}
            await self._templates.forget_unused(running | self._rollout.used)
        if self._book.count("stray"):
            await self._load()
            for attempts in self._book.at("stray"):
                if attempts.key in self._ledger:
                    self._book.move(attempts, "over")
                else:
                    self._judge.retry_later(attempts, "a later attempt's Job was deleted", 1)

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


def _is_held(attempts: Attempts) -> bool:
    """It failed in a pattern node and is with all its other readers: nothing more happens to it."""
    return bool(attempts.origin and attempts.origin.stuck and not attempts.origin.left)


def _failure(attempts: Attempts) -> Failure:
    job = attempts.latest
    return Failure(job.name, attempts.reason, job.job, (job.message or "")[-MESSAGE_SHOWN:])
