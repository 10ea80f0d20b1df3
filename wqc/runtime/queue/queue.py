"""One queue: start, watch, hand on, record, finish, in the order of promise 8.

All state is in the Jobs and the ledger; every step changes nothing the second time.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Set
from typing import Any

import msgspec

from wqc.contract.names import item_hash
from wqc.contract.settings import QueueSettings
from wqc.runtime.graph.origin import Offer
from wqc.runtime.lanes.arrivals import Seen
from wqc.runtime.lanes.rate import Rate
from wqc.runtime.lanes.rollout import Rollout
from wqc.runtime.manager.status import QueueStatus
from wqc.runtime.periods import Periods
from wqc.runtime.queue.book import Attempts, Book
from wqc.runtime.queue.bookkeeper import Bookkeeper
from wqc.runtime.queue.custody import Custody
from wqc.runtime.queue.held import Held, failure
from wqc.runtime.queue.judge import HandOn, Judge
from wqc.runtime.queue.largeitem import ItemTooLarge
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.overdue import Overdue
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.recorder import Recorder
from wqc.runtime.queue.starter import Starter
from wqc.runtime.queue.templates import Templates
from wqc.runtime.queue.upkeep import Upkeep
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import Changed, Gone, JobStore, Listed, Refused
from wqc.runtime.text import encode
from wqc.runtime.waiting import until_set

PAUSED_IN_FILE = "paused in the workflow's file"


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
        held_up: Callable[[], str],
    ) -> None:
        """`held_up` says why nothing may be finished, as what comes after it takes no more."""
        self.name = settings.queue
        self._settings = settings
        self._store = store
        self._ledger = ledger
        self._templates = templates
        self._rollout = rollout
        self._periods = periods
        self._held_up = held_up
        self._book = Book()
        self._custody = Custody(self._book, ledger, store)
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
            self._custody,
            self._pause,
            periods,
            self._begun,
        )
        self._recorder = Recorder(self.name, settings.keep, store, ledger, self._book, periods)
        self._keeper = Bookkeeper(self._book, ledger, self.key, self._has_job)
        self._overdue = Overdue(self._book, store, periods.lost_node)
        self._upkeep = Upkeep(self._book, store, self._starter, self._overdue, templates, rollout)
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
            self._load_item,
            self._wake.set,
        )
        self._ledger_loaded = False
        self._paused = False
        self._rate = Rate()
        self.held = Held(self._book, ledger, self._renew, self._wake.set)

    # --- what others tell it ---

    def offer(self, offer: Offer) -> None:
        """An item for this queue. It is taken at once if the queue has it already."""
        key = self.key(offer.delivery.name, offer.delivery.version)
        if key in self._ledger or key in self._book:
            self._custody.has(key, offer)
            self._wake.set()
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

    def arrivals(self) -> str:
        """What it has seen of them, for the next manager."""
        return encode(msgspec.to_builtins(self._starter.arrivals()))

    def go_on(self, arrivals: str) -> None:
        """From what another manager saw. What can't be read is nothing."""
        with contextlib.suppress(msgspec.MsgspecError):
            self._starter.go_on(msgspec.json.decode(arrivals, type=dict[str, Seen]))

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
        self._keeper.learn(change)
        self._wake.set()

    def doubt(self) -> None:
        """The store can't say which Jobs there are: start nothing (promise 5)."""
        self._keeper.sure = False

    @property
    def knows(self) -> bool:
        """What is finished and what runs is known; only then can an offer be judged."""
        return self._keeper.sure and self._ledger_loaded

    @property
    def has_judged(self) -> bool:
        """All that it was told about is judged: it is known which items are held."""
        return self.knows and self._keeper.has_judged

    @property
    def most(self) -> int:
        """How many items it works on at a time, at most."""
        return sum(lane.parallelism.max for lane in self._settings.lanes)

    @property
    def idle(self) -> bool:
        """Nothing is left to do about the items that it has, but for what waits for a person."""
        unfinished = self._book.count("active", "stray", "retry", "recording", "finishing")
        return self.has_judged and not (unfinished or self._book.hands_on() or self._starter.waiting)

    @property
    def rests(self) -> bool:
        """It does nothing by itself: nothing of it runs, and it has nothing to start, or may not."""
        unfinished = self._book.count("active", "stray", "recording", "finishing")
        to_start = self._book.count("retry") or self._starter.waiting
        return self.has_judged and not unfinished and (not to_start or bool(self._blocked()))

    def status(self) -> QueueStatus:
        dead = self._book.at("dead")
        if self.knows:
            self._rate.observe(time.monotonic(), len(self._ledger) + len(dead))
        return QueueStatus(
            self.name,
            waiting=self._starter.waiting + self._book.count("retry"),
            running=self._book.count("active"),
            parallelism=self._starter.parallelism,
            done=len(self._ledger) - self._ledger.failed,
            failed=self._ledger.failed + len(dead),
            held=len(dead),
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
            failures=tuple(map(failure, dead[-10:])),
        )

    # --- the loop ---

    async def run(self) -> None:
        while True:
            await until_set(self._wake, self._until_next())
            self._wake.clear()
            if self._keeper.sure:
                await self._step()

    async def load(self) -> None:
        """Read the ledger. After the first listing of Jobs: what that shows as done is in the ledger then."""
        while not self._ledger_loaded:
            await asyncio.sleep(max(0.0, self._recorder.pause.until - time.monotonic()))
            await self._recorder.guarded(self._load())

    async def _step(self) -> None:
        await self._recorder.guarded(self._review())
        await self._recorder.guarded(self._mend())
        await self._starter.start(lambda: not self._blocked())
        await self._recorder.guarded(self._record())

    async def _record(self) -> None:
        if self._recorder.pause.over:
            await self._rollout.save()
        self._custody.hasten(time.monotonic())
        await self._recorder.record()
        self._custody.review_all()

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

    def _has_job(self, attempts: Attempts) -> None:
        offer = self._starter.discard(attempts.key)
        if offer:
            self._custody.has(attempts.key, offer)
        self._custody.note(attempts)

    def _begun(self, job: Job, offer: Offer | None) -> None:
        """Judged at once: what is started must not be started a second time."""
        attempts = self._keeper.note(job)
        if offer:
            self._custody.has(attempts.key, offer)
        self._judge.judge(attempts)

    def _renew(self, attempts: Attempts) -> None:
        """A person wants a new round."""
        attempts.renewed = attempts.latest.job
        attempts.due = time.monotonic()
        self._book.move(attempts, "retry")

    async def _review(self) -> None:
        for attempts in self._keeper.changed():
            try:
                self._judge.judge(attempts, await self._data_of(attempts))
            except Refused:
                self._keeper.again(attempts)
                raise
        if self._recorder.pause.over:
            for attempts in await self._upkeep.run():
                self._judge.judge(attempts)
        if self._book.count("stray"):
            await self._load()
            for attempts in self._book.at("stray"):
                if attempts.key in self._ledger:
                    self._book.move(attempts, "over")
                else:
                    self._judge.retry_later(attempts, "a later attempt's Job was deleted", 1)

    async def _data_of(self, attempts: Attempts) -> str | None:
        """Of a finished Job's item, where it isn't with the Job. Raises Refused."""
        job = attempts.latest
        if job.content == "here" or job.held or job.done or job.phase not in ("succeeded", "failed"):
            return None
        try:
            if job.content == "apart":
                return await self._store.data(job)
            # it was made and has ended; what was said about its data got lost
            data = await self._custody.data(attempts)
            self._keeper.note(await self._store.complete(job, data))
            return data
        except (LookupError, SourceError, ItemTooLarge):
            return None

    async def _load_item(self, job: Job) -> str:
        """Raises SourceError."""
        try:
            return await self._store.data(job)
        except (LookupError, Refused) as error:
            raise SourceError(str(error)) from None

    async def _mend(self) -> None:
        for job in await self._custody.mend():
            self._begun(job, None)

    def _blocked(self) -> str:
        if not self._keeper.sure:
            return "its Jobs can't be listed"
        if not self._ledger_loaded:
            return "its ledger isn't read"
        if self._settings.paused:
            return PAUSED_IN_FILE
        if self._paused:
            return "paused by wqc pause"
        if (failed := self._book.count("dead")) >= self._settings.failed_limit:
            return f"{failed} items failed, and failed_limit is {self._settings.failed_limit}"
        if self._book.count("handing") >= self._settings.handover:
            return f"{self._settings.handover} finished items wait for their reader"
        return self._held_up()
