"""What nobody gets of a source that keeps its items: a filter rejects it, or `drop` takes it (promise 14).

The source is told that it is done once that is recorded, which only a manager that holds the Lease can do.
The record is kept for as long as the source lists the item: after that, the same verdict comes again.
"""

import time
from collections.abc import Mapping

from wqc.runtime.graph.origin import Offer
from wqc.runtime.periods import Periods
from wqc.runtime.queue.ledger import FLUSH_ITEMS, Ledger
from wqc.runtime.queue.offers import Offers
from wqc.runtime.queue.station import Station
from wqc.runtime.stores.store import JobStore

ENOUGH = 200
"""So many items aren't kept waiting for others to be recorded with them."""


class Dropped(Station):
    def __init__(self, name: str, store: JobStore, ledger: Ledger, periods: Periods) -> None:
        super().__init__(name, store, ledger, periods)
        self._waiting = Offers()

    def offer(self, offer: Offer) -> None:
        key = self.key(offer.delivery.name, offer.delivery.version)
        if key in self._ledger:
            offer.take()
            return
        now = time.monotonic()
        self._waiting.add(key, offer)
        self._ledger.add(key, now)
        if len(self._waiting) >= ENOUGH:
            self._ledger.hasten(now)
        self._wake.set()

    def withdraw(self, offer: Offer) -> None:
        """It is recorded all the same."""
        offer.withdrawn = True

    def listed(self, versions: Mapping[str, str]) -> None:
        """All that the source lists now."""
        if len(self._ledger.recorded) >= FLUSH_ITEMS:
            gone = self._ledger.recorded.copy()
            gone.difference_update(self.key(*each) for each in versions.items())
            if len(gone) >= FLUSH_ITEMS:
                self.forget(gone)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def refusal(self) -> str:
        """Why what nobody gets can't be recorded, for people; "" if it can."""
        reason = self._recorder.pause.reason
        return f"what is rejected can't be recorded: {reason}" if reason else ""

    async def _step(self) -> None:
        await self._recorder.guarded(self._recorder.record)
        self._look_through()

    def _look_through(self) -> None:
        self._waiting.take_recorded(self._ledger)
