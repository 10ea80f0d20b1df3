"""Where a delivery of the graph ends: what a queue, a holder of failed items, a carrier's publisher and the
record of what nobody gets have in common.

Each has a record of the items that it is done with, and one task that wakes when there is something to do.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping

from wqc.contract.limits import KEEP
from wqc.contract.names import item_hash
from wqc.runtime.graph.graph import Line
from wqc.runtime.graph.origin import Offer
from wqc.runtime.periods import Periods
from wqc.runtime.queue.book import Book
from wqc.runtime.queue.hashes import Hashes
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.recorder import Recorder
from wqc.runtime.stores.store import JobStore
from wqc.runtime.waiting import until_set

LOOK = 0.1
"""Seconds between two looks at whether something is recorded."""


class Station(ABC):
    """`keep`: seconds that a finished Job of its stays. `done_jobs`: how many of the workflow are there."""

    def __init__(
        self,
        name: str,
        store: JobStore,
        ledger: Ledger,
        periods: Periods,
        keep: float = KEEP,
        done_jobs: Callable[[], int] = lambda: 0,
    ) -> None:
        self.name = name
        self._store = store
        self._ledger = ledger
        self._periods = periods
        self._book = Book()
        """Empty where items have no Jobs."""
        self._recorder = Recorder(name, keep, store, ledger, self._book, periods, done_jobs)
        self._wake = asyncio.Event()
        self._loaded = False

    # --- what others tell it ---

    @abstractmethod
    def offer(self, offer: Offer) -> None:
        """An item that came here. It is taken at once if the station is done with it already."""

    @abstractmethod
    def withdraw(self, offer: Offer) -> None:
        """The item isn't there any more; if nothing is begun with it, nothing ever is."""

    def look_again(self) -> None:
        """What kept it from beginning something may be over."""
        self._wake.set()

    def forget(self, keys: Collection[bytes]) -> None:
        """These recorded items never come back; if they do, they are new ones."""
        self._recorder.forget(keys)
        self._wake.set()

    async def record_again(self, keys: Mapping[bytes, bytes], now: bool) -> None:
        """Recorded items become recorded under other keys: those, by the ones that they have. Returns when
        they are, and forgets those that they had. `now`: `run` hasn't begun; then it raises Refused, and
        forgets nothing: what lists them may know another version.
        """
        keys = {known: key for known, key in keys.items() if known != key}
        self._ledger.add_again(keys, time.monotonic())
        self._ledger.hasten(time.monotonic())
        self._wake.set()
        if now:
            await self._ledger.flush()
        while any(key not in self.recorded for key in keys.values()):
            await asyncio.sleep(LOOK)
        if not now:
            self.forget(keys.keys())

    # --- what it says ---

    def key(self, name: str, version: str) -> bytes:
        """What an item is recorded as."""
        return item_hash(name, version)

    @property
    def recorded(self) -> Hashes:
        """The keys of the items that it is done with."""
        return self._ledger.recorded

    @property
    def done_jobs(self) -> int:
        """How many of its Jobs are marked done, and still there."""
        return self._book.done_jobs

    @property
    def knows(self) -> bool:
        """What it is done with and what runs is known; only then can an offer be judged."""
        return self._loaded

    @property
    def is_loaded(self) -> bool:
        """Its record is read."""
        return self._loaded

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Items that came here and that nothing is begun with."""

    def waiting_in(self, line: Line) -> int:
        """As `waiting`, in one of its lines."""
        return self.waiting

    @property
    def idle(self) -> bool:
        """Nothing is left to do about the items that it has, but for what waits for a person."""
        return self.knows and not self.waiting and self._ledger.due() is None

    @property
    def rests(self) -> bool:
        """It does nothing by itself."""
        return self.idle

    # --- the loop ---

    async def load(self) -> None:
        """Read the record, if it can be. After the first listing of Jobs: what that shows as done is recorded
        then.
        """
        await asyncio.sleep(max(0.0, self._recorder.pause.until - time.monotonic()))
        await self._recorder.guarded(self._load)

    async def run(self) -> None:
        """Once the record is read; never returns."""
        self._look_through()
        looked = 0.0
        while True:
            await until_set(self._wake, self._until_next(looked))
            self._wake.clear()
            looked = time.monotonic()
            if self.knows:
                await self._step()

    @abstractmethod
    def _look_through(self) -> None:
        """What came before the record was read may be in it."""

    @property
    def _ignorance(self) -> str:
        """What keeps it from knowing what it is done with and what runs, for people; "" if nothing does."""
        refusal = "" if self._loaded else self._recorder.pause.reason
        return f"its ledger can't be read: {refusal}" if refusal else ""

    async def _load(self) -> None:
        await self._read()
        self._loaded = True
        self._recorder.pause.succeeded()

    async def _read(self) -> None:
        await self._ledger.load()

    @abstractmethod
    async def _step(self) -> None:
        """Do what there is to do."""

    def _times(self) -> Iterable[float]:
        """When there may be something to do beside recording, on the monotonic clock."""
        return ()

    def _until_next(self, looked: float) -> float | None:
        """Seconds until there may be something to do that the last look, which may have taken a while, was
        too early for.
        """
        now = time.monotonic()
        times = (self._recorder.pause.until, self._ledger.due() or 0.0, *self._times())
        coming = [at for at in times if at > looked]
        return max(0.01, min(coming) - now) if coming else None
