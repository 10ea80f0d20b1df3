"""When the origin of an item may let go of it: once what the queue has is enough (promise 2)."""

import time
from collections.abc import Iterable

from wqc.runtime.graph.origin import Offer
from wqc.runtime.periods import Periods
from wqc.runtime.queue.book import Attempts, Book
from wqc.runtime.queue.largeitem import ItemTooLarge
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.troubles import Troubles
from wqc.runtime.sources.source import NoSuchItem, SourceError
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import JobStore

DATA_DELETED = (
    "its data was too large for the manager to keep, and was deleted with its Job; "
    "if its source lists it, the next manager begins it anew"
)


class Custody:
    """The offers of items that a queue has."""

    def __init__(self, queue: str, book: Book, ledger: Ledger, store: JobStore, periods: Periods) -> None:
        self._book = book
        self._ledger = ledger
        self._store = store
        self._kept: dict[bytes, list[Offer]] = {}
        """Offers that aren't taken yet, since their origins must keep the items."""
        self._absent: dict[bytes, None] = {}
        """Items whose Jobs were made, and may lack the data."""
        self._troubles = Troubles[bytes]("completed", periods.backoff, periods, queue=queue)

    def has(self, key: bytes, offer: Offer) -> None:
        """The queue has the item of this offer."""
        self._kept.setdefault(key, []).append(offer)
        self._troubles.settle(key)
        self.review(key)

    def review(self, key: bytes) -> None:
        """What the queue has of the item may have changed."""
        attempts = self._book.get(key)
        for offer in self._kept.pop(key, ()):
            offer.stuck = attempts is not None and attempts.stage == "dead"
            if self._is_enough(key, offer):
                offer.take()
            elif not offer.withdrawn:
                self._kept.setdefault(key, []).append(offer)

    def review_all(self) -> None:
        for key in list(self._kept):
            self.review(key)

    def note(self, attempts: Attempts) -> None:
        """There is something new about the item's Jobs."""
        latest = attempts.latest
        if latest.content == "absent" and latest.phase == "active":
            self._absent[attempts.key] = None

    async def mend(self) -> list[Job]:
        """Complete the Jobs that were made without their items' data, as far as that is to be had.

        Raises Refused.
        """
        mended = []
        now = time.monotonic()
        for key in [key for key in self._absent if self._troubles.due(key) <= now]:
            attempts = self._book.get(key)
            if attempts and attempts.latest.content == "absent" and attempts.latest.phase == "active":
                self._absent[key] = self._absent.pop(key)  # the others first, the next time
                try:
                    job = await self._store.complete(attempts.latest, await self.data(attempts))
                except (LookupError, SourceError, ItemTooLarge) as error:
                    self._troubles.note(key, attempts.latest.name, str(error), "source")
                    if attempts.latest.hindrance:  # it waits for its data, and is in the way of others
                        await self._store.give_up(attempts.latest)
                    continue
                mended.append(job)
            self._absent.pop(key, None)
            self._troubles.settle(key)
        return mended

    def times(self) -> Iterable[float]:
        """When there is something to complete, on the monotonic clock."""
        return self._troubles.times()

    async def data(self, attempts: Attempts) -> str:
        """The item's data as JSON, from whoever has it. Raises Refused, SourceError."""
        is_deleted = False
        jobs = [job for job in attempts.jobs.values() if job.version == attempts.latest.version]
        for job in reversed(jobs):
            if job.data:
                return job.data
            if job.content == "apart" and not job.done:
                try:
                    return await self._store.data(job)
                except LookupError:
                    is_deleted = True  # by hand
        for offer in self._kept.get(attempts.key, ()):
            if not offer.withdrawn:
                return await offer.text()
        if is_deleted:
            raise NoSuchItem(DATA_DELETED)
        raise NoSuchItem("its data is too large to be kept, and nothing lists it any more")

    def hasten(self, now: float) -> None:
        """Origins that wait for the record soon want the next item in its place."""
        for key in self._kept:
            attempts = self._book.get(key)
            if attempts and attempts.stage == "recording":
                self._ledger.hasten(now)
                return

    def _is_enough(self, key: bytes, offer: Offer) -> bool:
        attempts = self._book.get(key)
        if key in self._ledger or attempts is None:
            return key in self._ledger
        if offer.origin.until_done and attempts.stage != "dead":
            return False
        return attempts.latest.content != "absent"
