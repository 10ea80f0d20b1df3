"""What leaves the workflow by one carrier: each item is its origin's until the carrier's service has it.

What was published is recorded, so that a source which lists its items for ever has each published once.
"""

import asyncio
import logging
import time
from collections.abc import Collection, Set

from wqc.contract.names import item_hash
from wqc.runtime.carriers.carrier import Carrier, NotAccepted
from wqc.runtime.graph.origin import Offer
from wqc.runtime.lanes.rate import Rate
from wqc.runtime.logs import log
from wqc.runtime.manager.status import CarrierStatus
from wqc.runtime.periods import Periods
from wqc.runtime.queue.ledger import DamagedLedger, Ledger
from wqc.runtime.queue.pause import Pause
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.store import Changed, Gone, Listed, Refused
from wqc.runtime.waiting import until_set

AT_ONCE = 64
"""Items under way to the service."""


class Publisher:
    def __init__(self, name: str, carrier: Carrier, ledger: Ledger, periods: Periods) -> None:
        self.name = name
        self._carrier = carrier
        self._ledger = ledger
        self._periods = periods
        self._service = Pause(name, periods)
        self._record_pause = Pause(name, periods)
        self._waiting: dict[bytes, list[Offer]] = {}
        """By item; more than one offer where two streams bring it."""
        self._due: dict[bytes, float] = {}
        """When an item that wasn't accepted is tried again, on the monotonic clock."""
        self._problems: dict[bytes, str] = {}
        self._sent: set[bytes] = set()
        """Published, and not recorded yet."""
        self._to_forget: set[bytes] = set()
        self._wake = asyncio.Event()
        self._rate = Rate()
        self._loaded = False

    # --- what others tell it ---

    def offer(self, offer: Offer) -> None:
        key = self.key(offer.delivery.name, offer.delivery.version)
        if key in self._ledger or key in self._sent:
            offer.take()
        else:
            self._waiting.setdefault(key, []).append(offer)
            self._wake.set()

    def withdraw(self, offer: Offer) -> None:
        """The item isn't there any more; if it isn't on its way, it isn't published."""
        offer.withdrawn = True
        key = self.key(offer.delivery.name, offer.delivery.version)
        left = [each for each in self._waiting.pop(key, ()) if each is not offer]
        if left:
            self._waiting[key] = left
        else:
            self._settle(key)

    def look_again(self) -> None:
        self._wake.set()

    def key(self, name: str, version: str) -> bytes:
        """What an item is recorded as; each version is published."""
        return item_hash(name, version)

    @property
    def recorded(self) -> Set[bytes]:
        return self._ledger.recorded

    def forget(self, keys: Collection[bytes]) -> None:
        self._to_forget.update(keys)
        self._wake.set()

    def learn(self, change: Listed | Changed | Gone) -> None:
        """It has no Jobs."""

    def doubt(self) -> None:
        pass

    # --- what it says ---

    @property
    def knows(self) -> bool:
        return self._loaded

    @property
    def idle(self) -> bool:
        return self._loaded and not self._waiting and self._ledger.due() is None

    @property
    def rests(self) -> bool:
        """It does nothing by itself."""
        return self.idle

    def status(self) -> CarrierStatus:
        if self._loaded:
            self._rate.observe(time.monotonic(), len(self._ledger))
        blocked = self._service.reason or self._record_pause.reason or next(iter(self._problems.values()), "")
        return CarrierStatus(
            self.name, len(self._waiting), len(self._ledger), self._rate.per_second(), blocked, self._loaded
        )

    # --- the loop ---

    async def load(self) -> None:
        """Read what is recorded."""
        while not self._loaded:
            await asyncio.sleep(max(0.0, self._record_pause.until - time.monotonic()))
            try:
                await self._ledger.load()
                self._loaded = True
                self._record_pause.succeeded()
            except (Refused, DamagedLedger) as error:
                self._refused(error)

    async def run(self) -> None:
        while True:
            await until_set(self._wake, self._until_next())
            self._wake.clear()
            while self._service.over and (batch := self._next_batch()):
                refusals = await asyncio.gather(*(self._publish(*each) for each in batch))
                if refusal := next(filter(None, refusals), ""):
                    self._service.refused(Refused(refusal))
                else:
                    self._service.succeeded()
                await self._record()
            await self._record()

    def _until_next(self) -> float | None:
        now = time.monotonic()
        times = [
            self._service.until,
            self._record_pause.until,
            self._ledger.due() or 0.0,
            *self._due.values(),
        ]
        coming = [at for at in times if at > now]
        return max(0.01, min(coming) - now) if coming else None

    def _next_batch(self) -> list[tuple[bytes, Offer]]:
        """While the service refuses, one finds out whether it still does."""
        batch: list[tuple[bytes, Offer]] = []
        most = 1 if self._service.reason else AT_ONCE
        now = time.monotonic()
        for key, offers in self._waiting.items():
            if self._due.get(key, 0.0) <= now and offers[0].origin.is_open():
                batch.append((key, offers[0]))
                if len(batch) == most:
                    break
        return batch

    async def _publish(self, key: bytes, offer: Offer) -> str:
        """Why the service takes nothing now, or ""."""
        name = offer.delivery.name
        try:
            text = await offer.text()
        except SourceError as error:
            self._later(key, f"{name}: {error}")
            return ""
        try:
            await self._carrier.publish(name, offer.delivery.version, text)
        except NotAccepted as error:
            self._later(key, f"{name} isn't accepted: {error}")
        except SourceError as error:
            return str(error)
        else:
            self._sent.add(key)
            self._ledger.add(key, time.monotonic())
            for each in self._waiting.pop(key, ()):
                each.take()
            self._settle(key)
        return ""

    def _later(self, key: bytes, problem: str) -> None:
        if self._problems.get(key) != problem:
            log(logging.WARNING, "item can't be published", carrier=self.name, reason=problem)
        self._problems[key] = problem
        self._due[key] = time.monotonic() + self._periods.backoff

    def _settle(self, key: bytes) -> None:
        self._due.pop(key, None)
        self._problems.pop(key, None)

    async def _record(self) -> None:
        due = self._ledger.due()
        if not self._record_pause.over:
            return
        try:
            if due is not None and due <= time.monotonic():
                await self._ledger.flush()
                self._record_pause.succeeded()
                self._sent -= self._ledger.recorded
            if self._to_forget:
                await self._ledger.forget(self._to_forget)
                self._to_forget.clear()
        except (Refused, DamagedLedger) as error:
            self._refused(error)

    def _refused(self, error: Refused | DamagedLedger) -> None:
        refused = error if isinstance(error, Refused) else Refused(str(error), self._periods.backoff_limit)
        self._record_pause.refused(refused)
