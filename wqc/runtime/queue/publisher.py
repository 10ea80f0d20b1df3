"""What leaves the workflow by one carrier: each item is its origin's until the carrier's service has it.

What was published is recorded, so that a source which lists its items for ever has each published once.
"""

import asyncio
import time
from collections.abc import Callable, Iterable

from wqc.runtime.carriers.carrier import Carrier, NotAccepted
from wqc.runtime.graph.graph import Line
from wqc.runtime.graph.origin import Offer
from wqc.runtime.lanes.rate import Rate
from wqc.runtime.manager.status import CarrierStatus, in_words, troubled
from wqc.runtime.obstacles import Kind
from wqc.runtime.periods import Periods
from wqc.runtime.queue.fetching import Fetching
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.offers import Offers
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.station import Station
from wqc.runtime.queue.troubles import Troubles
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.store import JobStore, Refused

AT_ONCE = 64
"""Items under way to the service."""


class Publisher(Station):
    def __init__(
        self,
        name: str,
        carrier: Carrier,
        store: JobStore,
        ledger: Ledger,
        periods: Periods,
        expected: Callable[[], int],
    ) -> None:
        """`expected`: how many items are listed that are likely to come."""
        super().__init__(name, store, ledger, periods)
        self._carrier = carrier
        self._expected = expected
        self._service = Pause(name, periods)
        """From publishing; the recorder's own is from writing."""
        self._waiting = Offers()
        self._troubles = Troubles[bytes]("published", periods.backoff, periods, carrier=name)
        self._fetching = Fetching(self.look_again)
        self._rate = Rate()

    # --- what others tell it ---

    def offer(self, offer: Offer) -> None:
        key = self.key(offer.delivery.name, offer.delivery.version)
        if key in self._ledger or self._ledger.will_have(key):
            offer.take()
        else:
            self._waiting.add(key, offer)
            self._wake.set()

    def withdraw(self, offer: Offer) -> None:
        offer.withdrawn = True
        key = self.key(offer.delivery.name, offer.delivery.version)
        if self._waiting.withdraw(key, offer):
            self._troubles.settle(key)
            self._fetching.drop(key)

    # --- what it says ---

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def waiting_in(self, line: Line) -> int:
        """But for those that aren't accepted: what comes behind them is, perhaps."""
        return len(self._waiting) - len(self._troubles)

    def status(self) -> CarrierStatus:
        if self._rate.has_begun:
            self._rate.observe(time.monotonic(), len(self._ledger))
        found = self._troubles.all()
        refusal = self._ignorance or self._service.reason or self._recorder.pause.reason
        return CarrierStatus(
            self.name,
            waiting=self.waiting + self._expected(),
            done=len(self._ledger),
            rate=self._rate.per_second(),
            blocked=refusal or in_words(found, "published"),
            knows=self.knows,
            troubled=troubled(found),
        )

    # --- the loop ---

    def _look_through(self) -> None:
        self._waiting.take_recorded(self._ledger)

    async def _step(self) -> None:
        self._rate.begin(time.monotonic(), len(self._ledger))
        while self._service.over and (batch := self._next_batch()):
            answers = await asyncio.gather(*(self._publish(*each) for each in batch))
            if refusal := next(filter(None, answers), ""):
                self._service.refused(Refused(refusal))
            elif "" in answers:
                self._service.succeeded()
            await self._recorder.guarded(self._recorder.record)
        if not self._waiting:
            self._service.succeeded()  # what was refused is wanted no more
        await self._recorder.guarded(self._recorder.record)

    def _times(self) -> Iterable[float]:
        return (self._service.until, *self._troubles.times())

    def _next_batch(self) -> list[tuple[bytes, Offer]]:
        """While the service refuses, one finds out whether it still does."""
        batch: list[tuple[bytes, Offer]] = []
        most = 1 if self._service.reason else AT_ONCE
        now = time.monotonic()
        for key, offer in self._waiting.items():
            is_due = self._troubles.due(key) <= now and not self._fetching.holds_up(key, offer)
            if is_due and offer.origin.is_open():
                batch.append((key, offer))
                if len(batch) == most:
                    break
        return batch

    async def _publish(self, key: bytes, offer: Offer) -> str | None:
        """Why the service takes nothing now, or ""; None if it wasn't asked."""
        name = offer.delivery.name
        try:
            text = await self._fetching.text(key, offer)
        except SourceError as error:
            self._note(key, name, str(error), "source")
            return None
        if text is None:
            return None
        try:
            await self._carrier.publish(name, offer.delivery.version, text)
        except NotAccepted as error:
            self._note(key, name, f"it isn't accepted: {error}", "broker")
        except SourceError as error:
            return str(error)
        else:
            self._ledger.add(key, time.monotonic())
            self._waiting.take(key)
            self._troubles.settle(key)
        return ""

    def _note(self, key: bytes, name: str, why: str, kind: Kind) -> None:
        if key in self._waiting:  # else it went meanwhile
            self._troubles.note(key, name, why, kind)
