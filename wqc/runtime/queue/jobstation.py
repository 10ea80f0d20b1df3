"""A station that has a Job for each of its items."""

import time
from abc import abstractmethod
from collections.abc import Callable

from wqc.runtime.graph.origin import Offer
from wqc.runtime.periods import Periods
from wqc.runtime.queue.book import Attempts
from wqc.runtime.queue.bookkeeper import Bookkeeper
from wqc.runtime.queue.custody import Custody
from wqc.runtime.queue.held import Held
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.station import Station
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import Changed, Gone, JobStore, Listed, Refused


class JobStation(Station):
    def __init__(
        self,
        name: str,
        store: JobStore,
        ledger: Ledger,
        periods: Periods,
        keep: float,
        done_jobs: Callable[[], int],
    ) -> None:
        super().__init__(name, store, ledger, periods, keep, done_jobs)
        self._keeper = Bookkeeper(self._book, ledger, self.key, self._has_job)
        self._custody = Custody(name, self._book, ledger, store, periods)
        self._supply = Pause(name, periods)
        """From asking for items' data and completing Jobs with it; the recorder's own is from recording."""
        self._doubt = ""
        """Why the store can't say which Jobs there are."""
        self.held = Held(self._book, ledger, self._renew, self._wake.set)

    def offer(self, offer: Offer) -> None:
        key = self.key(offer.delivery.name, offer.delivery.version)
        if key in self._ledger or self._ledger.will_have(key) or key in self._book:
            self._custody.has(key, offer)
        else:
            self._put(key, offer)
        self._wake.set()

    def learn(self, change: Listed | Changed | Gone) -> None:
        """What the store says of this station's Jobs."""
        self._keeper.learn(change)
        self._wake.set()

    def doubt(self, reason: str) -> None:
        """The store can't say which Jobs there are: nothing may be started (promise 5)."""
        self._keeper.sure = False
        self._doubt = reason

    @property
    def knows(self) -> bool:
        return self._keeper.sure and self._loaded

    @property
    def has_judged(self) -> bool:
        """All that it was told about is judged: it is known which items are held."""
        return self.knows and self._keeper.has_judged

    @property
    def idle(self) -> bool:
        unfinished = self._book.count("active", "stray", "retry", "recording", "finishing")
        return self.has_judged and not (unfinished or self._book.hands_on() or self.waiting)

    @property
    def _ignorance(self) -> str:
        if self._doubt and not self._keeper.sure:
            return f"its Jobs can't be listed: {self._doubt}"
        return super()._ignorance

    def _look_through(self) -> None:
        for key in self._waiting_keys():
            if key in self._ledger and (offer := self._drop(key)):
                self._custody.has(key, offer)

    @abstractmethod
    def _waiting_keys(self) -> list[bytes]:
        """Of the items that came here and that nothing is begun with."""

    @abstractmethod
    def _put(self, key: bytes, offer: Offer) -> None:
        """An item without a Job: it waits."""

    @abstractmethod
    def _drop(self, key: bytes) -> Offer | None:
        """It waits no longer; its offer, if it did."""

    @abstractmethod
    def _judge(self, attempts: Attempts) -> None:
        """What is to be done about the item, as its Jobs are now."""

    def _has_job(self, attempts: Attempts) -> None:
        offer = self._drop(attempts.key)
        if offer:
            self._custody.has(attempts.key, offer)
        self._custody.note(attempts)

    def _made(self, job: Job, offer: Offer | None = None) -> None:
        """Judged at once: what is begun must not be begun a second time."""
        attempts = self._keeper.note(job)
        if offer:
            self._custody.has(attempts.key, offer)
        self._judge(attempts)

    def _renew(self, attempts: Attempts) -> None:
        """A person wants another try at the item."""
        attempts.renewed = attempts.latest.job
        attempts.due = time.monotonic()
        self._book.move(attempts, "retry")

    async def _mend(self) -> None:
        """The last in a step that asks for items' data."""
        if not self._supply.over:
            return
        try:
            for job in await self._custody.mend():
                self._made(job)
        except Refused as refused:
            self._supply.refused(refused)
        else:
            self._supply.succeeded()
