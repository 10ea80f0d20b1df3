"""What failed in one pattern node (or in a source) whose `.failed` nobody reads (promise 14).

Each item is held by a suspended Job of the node's own, from which its origin may let go of it, until a person
says retry, which is to pass it through the node once more, or discard.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

from wqc.contract.limits import FAILED_LIMIT, KEEP
from wqc.contract.names import held_job_name
from wqc.runtime.graph.graph import Delivery
from wqc.runtime.graph.origin import Offer, Origin
from wqc.runtime.logs import log
from wqc.runtime.manager.status import NodeStatus, in_words, troubled
from wqc.runtime.periods import Periods
from wqc.runtime.queue.attempt import Identity
from wqc.runtime.queue.book import Attempts
from wqc.runtime.queue.fetching import Fetching
from wqc.runtime.queue.held import failure
from wqc.runtime.queue.heldjob import held_job
from wqc.runtime.queue.jobstation import JobStation
from wqc.runtime.queue.judge import Fetch
from wqc.runtime.queue.largeitem import ItemTooLarge
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.troubles import Troubles
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import AlreadyExists, ForeignJob, JobStore, Refused

Again = Callable[[str, Job, str, Fetch | None, Callable[[], None]], Origin | str]
"""(the node, the Job that holds the item, the item's data, how to get that again if it is large, what to call
when everyone has it). A text: why it fails again.
"""


class Holder(JobStation):
    """`opened` is called when there is room again. `notice`: what people are told while it holds anything."""

    def __init__(
        self,
        workflow: str,
        node: str,
        owner: dict[str, Any],
        store: JobStore,
        ledger: Ledger,
        periods: Periods,
        again: Again,
        opened: Callable[[], None],
        done_jobs: Callable[[], int],
        notice: str = "",
    ) -> None:
        super().__init__(node, store, ledger, periods, KEEP, done_jobs)
        self._notice = notice
        self._workflow = workflow
        self._owner = owner
        self._again = again
        self._opened = opened
        self._waiting: dict[bytes, Offer] = {}
        self._troubles = Troubles[bytes]("held", periods.backoff, periods, node=node)
        self._fetching = Fetching(self.look_again)
        self._pause = Pause(node, periods)
        """From making Jobs."""
        self._was_full = False

    # --- what others tell it ---

    def withdraw(self, offer: Offer) -> None:
        offer.withdrawn = True
        key = self.key(offer.delivery.name, offer.delivery.version)
        self._troubles.settle(key)
        if self._waiting.get(key) is offer:
            self._drop(key)

    # --- what it says ---

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def rests(self) -> bool:
        """It has nothing to hold, or holds all that it can."""
        unfinished = self._book.count("active", "retry", "recording", "finishing")
        return self.has_judged and not unfinished and (not self._waiting or bool(self.full))

    @property
    def full(self) -> str:
        """Why nothing more may come, for people."""
        is_full = self._book.count("dead") >= FAILED_LIMIT
        return f"{self.name} holds {FAILED_LIMIT} failed items: retry or discard them" if is_full else ""

    def status(self) -> NodeStatus:
        dead = self._book.at("dead")
        found = self._troubles.all()
        refusal = self._ignorance or self._pause.reason or self._supply.reason or self._recorder.pause.reason
        blocked = self.full or refusal or in_words(found, "held")
        if dead:
            blocked = blocked or self._notice
        return NodeStatus(self.name, len(dead), blocked, tuple(map(failure, dead[-10:])), troubled(found))

    # --- the loop ---

    async def _step(self) -> None:
        for attempts in self._keeper.changed():
            self._judge(attempts)
        await self._mend()
        try:
            await self._hold_more()
        except Refused as refused:
            self._pause.refused(refused)
        if not (self._waiting or self._book.count("retry")):
            self._pause.succeeded()  # what was refused is wanted no more
        await self._recorder.guarded(self._recorder.record)
        self._custody.review_all()
        if self._was_full and not self.full:
            self._opened()
        self._was_full = bool(self.full)

    def _times(self) -> Iterable[float]:
        return (*self._troubles.times(), *self._custody.times(), self._pause.until, self._supply.until)

    # --- one item ---

    def _waiting_keys(self) -> list[bytes]:
        return list(self._waiting)

    def _put(self, key: bytes, offer: Offer) -> None:
        reason = offer.delivery.failure
        log(logging.WARNING, "item failed", node=self.name, item=offer.delivery.name, reason=reason)
        self._waiting[key] = offer

    def _drop(self, key: bytes) -> Offer | None:
        self._troubles.settle(key)
        self._fetching.drop(key)
        return self._waiting.pop(key, None)

    def _judge(self, attempts: Attempts) -> None:
        job = attempts.latest
        if attempts.stage in ("handing", "recording", "finishing", "over"):
            return
        attempts.judged = job
        if job.done:
            self._book.move(attempts, "over")
        elif attempts.key in self._ledger:
            self._book.move(attempts, "finishing")
        elif job.phase == "lost":
            self._book.move(attempts, "retry")  # deleted by hand: what is in memory makes another
        else:
            attempts.reason = job.reason
            self._book.move(attempts, "dead")

    async def _hold_more(self) -> None:
        """Raises Refused."""
        for attempts in self._book.at("retry"):
            if not self._pause.over:
                return
            await self._retry(attempts)
        for key, offer in list(self._waiting.items()):
            if self.full or not self._pause.over:
                return
            is_due = self._troubles.due(key) <= time.monotonic() and not self._fetching.holds_up(key, offer)
            if is_due and not offer.withdrawn and offer.origin.is_open():
                await self._hold(key, offer)
            if offer.withdrawn:
                self.withdraw(offer)  # a finished Job that is deleted withdraws it and tells nobody

    async def _hold(self, key: bytes, offer: Offer) -> None:
        """Raises Refused."""
        delivery = offer.delivery
        try:
            text = await self._fetching.text(key, offer)
            if text is None or offer.withdrawn:
                return
            identity = Identity(delivery.name, delivery.version, 0, 1, 0)
            job = await self._create(identity, text, delivery.failure)
        except SourceError as error:
            self._troubles.note(key, delivery.name, str(error), "source")
            return
        except ForeignJob as error:
            self._troubles.note(key, delivery.name, str(error), "name")
            return
        except Refused:
            if key in self._waiting:
                self._waiting[key] = self._waiting.pop(key)  # the others first, the next time
            raise
        self._drop(key)
        self._holds(job, offer)

    def _holds(self, job: Job, offer: Offer | None = None) -> None:
        self._pause.succeeded()
        self._made(job, offer)
        self._wake.set()

    async def _create(self, identity: Identity, text: str, reason: str) -> Job:
        """Raises ForeignJob, Refused."""
        attempt = identity.attempt
        while True:
            name = held_job_name(self._workflow, self.name, identity.name, identity.version, attempt)
            numbered = Identity(identity.name, identity.version, 0, attempt, 0)
            try:
                return await self._store.create(self.name, self._manifest(name, numbered, text, reason), text)
            except AlreadyExists:
                existing = await self._store.get(self.name, name)
            if existing is None:
                raise Refused(f"the Job {name} was there and is gone")
            if (existing.name, existing.version) != (identity.name, identity.version):
                raise ForeignJob(f"the Job {name} is of another item, {existing.name}")
            if not existing.deleting:
                return existing
            attempt += 1

    def _manifest(self, name: str, identity: Identity, text: str, reason: str) -> dict[str, Any]:
        try:
            return held_job(self._owner, self._workflow, self.name, name, identity, text, reason)
        except ItemTooLarge as error:
            why = f"{reason}; {error}"
            return held_job(self._owner, self._workflow, self.name, name, identity, None, why)

    async def _retry(self, attempts: Attempts) -> None:
        """Or make another Job, if this one was deleted by hand. Raises Refused."""
        job = attempts.latest
        try:
            data = await self._custody.data(attempts)
        except SourceError as error:
            attempts.reason = str(error)
            self._book.move(attempts, "dead")
            return
        if attempts.renewed == job.job:
            self._pass_on(attempts, job, data)
        else:
            identity = Identity(job.name, job.version, 0, job.attempt + 1, 0)
            try:
                self._holds(await self._create(identity, data, attempts.reason))
            except ForeignJob as error:
                attempts.reason = str(error)
                self._book.move(attempts, "dead")

    def _pass_on(self, attempts: Attempts, job: Job, data: str) -> None:
        attempts.renewed = ""
        self._book.move(attempts, "handing")

        async def fetch() -> str:
            try:
                return await self._custody.data(attempts)
            except Refused as refused:
                raise SourceError(str(refused)) from None

        def complete() -> None:
            attempts.origin = None
            self._book.move(attempts, "recording")
            self._ledger.add(attempts.key, time.monotonic())
            self._wake.set()

        outcome = self._again(self.name, job, data, None if job.data else fetch, complete)
        if isinstance(outcome, str):
            attempts.reason = outcome
            self._book.move(attempts, "dead")
        elif attempts.stage == "handing":
            attempts.origin = outcome


def fails_in(node: str, deliveries: Collection[Delivery]) -> str:
    """Why an item failed in the node; "" if it didn't."""
    return next((each.failure for each in deliveries if each.station == node and each.failure), "")
