"""One queue: start, watch, hand on, record, finish, in the order of promise 8.

All state is in the Jobs and the ledger; every step changes nothing the second time.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from wqc.contract.names import item_hash
from wqc.contract.settings import QueueSettings
from wqc.runtime.graph.graph import Line
from wqc.runtime.graph.origin import Offer
from wqc.runtime.lanes.arrivals import Seen
from wqc.runtime.lanes.rate import Rate
from wqc.runtime.lanes.rollout import Rollout
from wqc.runtime.manager.status import QueueStatus, Trouble, troubled
from wqc.runtime.obstacles import Obstacle
from wqc.runtime.periods import Periods
from wqc.runtime.queue.book import Attempts
from wqc.runtime.queue.held import failure
from wqc.runtime.queue.jobstation import JobStation
from wqc.runtime.queue.judge import HandOn, Judge, is_judged
from wqc.runtime.queue.largeitem import ItemTooLarge
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.overdue import Overdue
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.starter import Starter
from wqc.runtime.queue.templates import Templates
from wqc.runtime.queue.upkeep import Upkeep
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import JobStore, Refused
from wqc.runtime.text import encode

PAUSED_IN_FILE = "paused in the workflow's file"
PAUSED_BY_PERSON = "paused by wqc pause"


class Queue(JobStation):
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
        done_jobs: Callable[[], int],
        expected: Callable[[str], int],
    ) -> None:
        """`held_up` says why nothing may be finished, as what comes after it takes no more. `expected`: how
        many items are listed that a lane is likely to get.
        """
        self.formerly = settings.formerly
        """The name that it had; "" if it always had this one."""
        super().__init__(settings.queue, store, ledger, periods, settings.keep, done_jobs)
        self._settings = settings
        self._templates = templates
        self._rollout = rollout
        self._held_up = held_up
        self._pause = Pause(self.name, periods)
        """From starting."""
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
            self._made,
            expected,
            self.look_again,
        )
        self._overdue = Overdue(self._book, store, periods.lost_node)
        self._upkeep = Upkeep(self._book, store, self._starter, self._overdue, templates, rollout)
        self._judging = Judge(
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
        self._paused = False
        self._rate = Rate()

    # --- what others tell it ---

    def withdraw(self, offer: Offer) -> None:
        offer.withdrawn = True
        key = self.key(offer.delivery.name, offer.delivery.version)
        found = self._starter.discard(key)
        if found and found is not offer:
            self._starter.put(key, found)  # the same item's next version
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

    # --- what it says ---

    def key(self, name: str, version: str) -> bytes:
        return recorded_as(self._settings.rework, name, version)

    @property
    def rework(self) -> str:
        return self._settings.rework

    @property
    def with_jobs(self) -> list[list[tuple[str, str]]]:
        """Before `run`: the items that have Jobs, by what they are recorded as; a name and version each."""
        every = self._book.at("active")
        return [list({(job.name, job.version): None for job in each.jobs.values()}) for each in every]

    @property
    def waiting(self) -> int:
        return self._starter.waiting

    def waiting_in(self, line: Line) -> int:
        return self._starter.waiting_in(line)

    @property
    def most(self) -> int:
        """How many items it works on at a time, at most."""
        return sum(lane.parallelism.max for lane in self._settings.lanes)

    @property
    def rests(self) -> bool:
        """Nothing of it runs, and it has nothing to start, or may not."""
        unfinished = self._starter.begins or self._book.count("active", "stray", "recording", "finishing")
        to_start = self._book.count("retry") or self.waiting
        return self.has_judged and not unfinished and (not to_start or bool(self._blocked()))

    @property
    def _ended(self) -> int:
        return len(self._ledger) + self._book.count("dead")

    def status(self) -> QueueStatus:
        dead = self._book.at("dead")
        troubles = self._starter.troubles()
        problem = self._problem(troubles)
        if self._rate.has_begun:
            self._rate.observe(time.monotonic(), self._ended)
        return QueueStatus(
            self.name,
            waiting=self.waiting + self._starter.expected + self._book.count("retry"),
            running=sum(each.latest.phase == "active" for each in self._book.at("active")),
            parallelism=self._starter.parallelism,
            done=len(self._ledger) - self._ledger.failed,
            failed=self._ledger.failed + len(dead),
            held=len(dead),
            handing=self._book.count("handing"),
            oldest=self._starter.oldest,
            arrival_interval=self._starter.arrival_interval,
            slot_time=self._starter.slot.mean,
            rate=self._rate.per_second(),
            blocked=problem.why if problem else "",
            knows=self.knows,
            failures=tuple(map(failure, dead[-10:])),
            troubled=troubled(troubles),
            blocked_by=problem.kind if problem else "",
            retrying=troubled(self._starter.retrying()),
        )

    # --- the loop ---

    async def _step(self) -> None:
        await self._judge_changed()
        if not self._rate.has_begun and self.has_judged:
            self._rate.begin(time.monotonic(), self._ended)
        await self._mend()
        await self._starter.start(lambda: not self._blocked())
        await self._recorder.guarded(self._record)
        await self._recorder.guarded(self._look_after)

    async def _record(self) -> None:
        if self._recorder.pause.over:
            await self._rollout.save()
        self._custody.hasten(time.monotonic())
        await self._recorder.record()
        self._custody.review_all()

    def _times(self) -> Iterable[float]:
        return (
            *self._starter.next_due(),
            *self._overdue.times(),
            *self._custody.times(),
            self._pause.until,
            self._supply.until,
        )

    async def _read(self) -> None:
        await super()._read()
        await self._templates.load()
        jobs = (job for attempts in self._book.at("active") for job in attempts.jobs.values())
        await self._rollout.load(max((job.created for job in jobs), default=0.0))

    # --- Jobs ---

    def _waiting_keys(self) -> list[bytes]:
        return self._starter.inbox.keys

    def _put(self, key: bytes, offer: Offer) -> None:
        self._starter.arrived(offer)
        self._starter.put(key, offer)

    def _drop(self, key: bytes) -> Offer | None:
        return self._starter.discard(key)

    def _judge(self, attempts: Attempts) -> None:
        self._judging.judge(attempts)

    async def _look_after(self) -> None:
        """After the recording: what of this is refused for long mustn't keep it from that."""
        if not self._recorder.pause.over:
            return
        for attempts in await self._upkeep.run():
            self._judge(attempts)
        if self._book.count("stray"):
            await self._load()
            for attempts in self._book.at("stray"):
                if attempts.key in self._ledger:
                    self._book.move(attempts, "over")
                else:
                    self._judging.retry_later(attempts, "a later attempt's Job was deleted", 1)
        self._recorder.pause.succeeded()

    async def _judge_changed(self) -> None:
        """What the store doesn't give the data of waits until it may be asked again; others don't."""
        waiting: list[Attempts] = []
        refused: list[Attempts] = []
        for attempts in self._keeper.changed():
            data = None
            if self._needs_data(attempts):
                if not self._supply.over:
                    waiting.append(attempts)
                    continue
                try:
                    data = await self._data_of(attempts)
                except Refused as refusal:
                    self._supply.refused(refusal)
                    refused.append(attempts)
                    continue
            self._judging.judge(attempts, data)
        for attempts in (*waiting, *refused):  # the next time the others come first
            self._keeper.again(attempts)

    @staticmethod
    def _needs_data(attempts: Attempts) -> bool:
        """It is a finished Job's item, whose data isn't with the Job, and isn't judged yet."""
        job = attempts.latest
        is_over = job.phase in ("succeeded", "failed") and not (job.held or job.done)
        return is_over and job.content != "here" and not is_judged(attempts, job)

    async def _data_of(self, attempts: Attempts) -> str | None:
        """Raises Refused."""
        job = attempts.latest
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

    def _problem(self, troubles: Sequence[Trouble]) -> Obstacle | None:
        """What keeps it or some of its items from going on."""
        if not self.knows:
            return Obstacle("api", self._ignorance) if self._ignorance else None
        if blocked := self._blocked():
            return blocked
        if refusal := self._pause.reason or self._supply.reason or self._recorder.pause.reason:
            return Obstacle("api", refusal)
        return self._starter.problem(troubles)

    def _blocked(self) -> Obstacle | None:
        """Why it may start nothing."""
        if not self.knows:
            return Obstacle("api", "what runs and what is finished isn't known yet")
        if self._settings.paused:
            return Obstacle("paused", PAUSED_IN_FILE)
        if self._paused:
            return Obstacle("paused", PAUSED_BY_PERSON)
        if (failed := self._book.count("dead")) >= self._settings.failed_limit:
            held = "1 failed item is" if failed == 1 else f"{failed} failed items are"
            limit = self._settings.failed_limit
            return Obstacle(
                "failed", f"{held} held, and failed_limit is {limit}: retry or discard what failed"
            )
        if self._book.count("handing") >= self._settings.handover:
            return Obstacle("reader", f"{self._settings.handover} finished items wait for their reader")
        held_up = self._held_up()
        return Obstacle("failed", held_up) if held_up else None


def recorded_as(rework: str, name: str, version: str) -> bytes:
    """With `on_change` another version is another item."""
    return item_hash(name, version if rework == "on_change" else "")
