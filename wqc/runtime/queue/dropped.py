"""What nobody gets of a source that keeps its items: a filter rejects it, or `drop` takes it (promise 14).

The source is told that it is done once that is recorded, which only a manager that holds the Lease can do.
The record is kept for as long as the source lists the item: after that, the same verdict comes again.
"""

import asyncio
import time
from collections.abc import Mapping

from wqc.contract.limits import KEEP
from wqc.contract.names import item_hash
from wqc.runtime.graph.origin import Offer
from wqc.runtime.periods import Periods
from wqc.runtime.queue.book import Book
from wqc.runtime.queue.ledger import FLUSH_ITEMS, Ledger
from wqc.runtime.queue.recorder import Recorder
from wqc.runtime.stores.store import Changed, Gone, JobStore, Listed
from wqc.runtime.waiting import until_set

ENOUGH = 200
"""So many items aren't kept waiting for others to be recorded with them."""


class Dropped:
    def __init__(self, name: str, store: JobStore, ledger: Ledger, periods: Periods) -> None:
        self.name = name
        self._ledger = ledger
        self._recorder = Recorder(name, KEEP, store, ledger, Book(), periods)
        self._waiting: dict[bytes, list[Offer]] = {}
        self._wake = asyncio.Event()
        self._loaded = False

    # --- what others tell it ---

    def offer(self, offer: Offer) -> None:
        key = item_hash(offer.delivery.name, offer.delivery.version)
        if key in self._ledger:
            offer.take()
            return
        now = time.monotonic()
        self._waiting.setdefault(key, []).append(offer)
        self._ledger.add(key, now)
        if len(self._waiting) >= ENOUGH:
            self._ledger.hasten(now)
        self._wake.set()

    def withdraw(self, offer: Offer) -> None:
        """The item isn't there any more; nothing is to be done about it."""
        offer.withdrawn = True

    def listed(self, versions: Mapping[str, str]) -> None:
        """All that the source lists now."""
        gone = self._ledger.recorded - {item_hash(*each) for each in versions.items()}
        if len(gone) >= FLUSH_ITEMS:
            self._recorder.forget(gone)
            self._wake.set()

    def look_again(self) -> None:
        self._wake.set()

    def learn(self, change: Listed | Changed | Gone) -> None:
        """It has no Jobs."""

    def doubt(self) -> None:
        pass

    # --- what it says ---

    @property
    def idle(self) -> bool:
        return self._loaded and not self._waiting

    @property
    def rests(self) -> bool:
        """It does nothing by itself."""
        return self.idle

    @property
    def refusal(self) -> str:
        """Why what nobody gets can't be recorded, for people; "" if it can."""
        reason = self._recorder.pause.reason
        return f"what is rejected can't be recorded: {reason}" if reason else ""

    # --- the loop ---

    async def load(self) -> None:
        while not self._loaded:
            await asyncio.sleep(max(0.0, self._recorder.pause.until - time.monotonic()))
            await self._recorder.guarded(self._load())

    async def _load(self) -> None:
        await self._ledger.load()
        self._loaded = True
        self._recorder.pause.succeeded()

    async def run(self) -> None:
        while True:
            await until_set(self._wake, self._until_next())
            self._wake.clear()
            await self._recorder.guarded(self._recorder.record())
            for key in [key for key in self._waiting if key in self._ledger]:
                for offer in self._waiting.pop(key):
                    offer.take()

    def _until_next(self) -> float | None:
        now = time.monotonic()
        coming = [at for at in (self._recorder.pause.until, self._ledger.due() or 0.0) if at > now]
        return max(0.01, min(coming) - now) if coming else None
