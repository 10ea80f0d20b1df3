"""A source that may take long, or hang, behind one that always answers in time.

What takes too long is an error that says so, and goes on: who asks again waits for the same answer, so that
a listing that takes minutes does come, and a share that hangs holds no more than one call for the listing
and a few for items.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from wqc.runtime.sources.source import BoundedSource, HoldingSource, Listing, Source, SourceError

T = TypeVar("T")
AT_ONCE = 16
LATE = 3
"""A listing that takes so many times as long as the one before is late; until then that one stands."""


class _Patient:
    def __init__(self, source: Source, patience: float) -> None:
        self._source = source
        self._patience = patience
        self._listing: asyncio.Task[Listing] | None = None
        self._since = 0.0
        self._last: Listing | None = None
        self._took = 0.0
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._calls: set[asyncio.Task[Any]] = set()

    async def list(self) -> Listing:
        task = self._listing
        if task is None:
            task = self._listing = asyncio.create_task(self._timed())
            self._since = time.monotonic()
        await asyncio.wait({task}, timeout=self._patience)
        if not task.done():
            elapsed = time.monotonic() - self._since
            if self._last is not None and elapsed < LATE * self._took:
                return self._last
            raise SourceError(f"the listing isn't complete yet, after {elapsed:.0f} s")
        if self._listing is task:
            self._listing = None
        return task.result()

    async def _timed(self) -> Listing:
        listing = await self._source.list()
        if listing is not self._last:  # else it may come from memory
            self._last, self._took = listing, time.monotonic() - self._since
        return listing

    async def get(self, name: str) -> str:
        return await self._call(partial(self._source.get, name))

    async def close(self) -> None:
        tasks = [*self._calls, *([self._listing] if self._listing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._source.close()

    async def _call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        until = time.monotonic() + self._patience
        try:
            async with asyncio.timeout(self._patience):
                await self._slots.acquire()
        except TimeoutError:
            raise self._overdue() from None
        task = asyncio.create_task(work())
        self._calls.add(task)
        task.add_done_callback(self._ended)
        await asyncio.wait({task}, timeout=until - time.monotonic())
        if not task.done():
            raise self._overdue()
        return task.result()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._calls.discard(task)
        self._slots.release()
        if not task.cancelled():
            task.exception()  # seen: perhaps nobody waits for it any more

    def _overdue(self) -> SourceError:
        return SourceError(f"no answer after {self._patience:g} s")


class _PatientHolding(_Patient):
    def __init__(self, source: HoldingSource, patience: float) -> None:
        super().__init__(source, patience)
        self._holding = source

    async def done(self, name: str) -> None:
        await self._call(partial(self._holding.done, name))


class _PatientBounded(_PatientHolding):
    def __init__(self, source: BoundedSource, patience: float) -> None:
        super().__init__(source, patience)
        self._bounded = source

    def want(self, count: int) -> None:
        self._bounded.want(count)


def patient(source: Source, patience: float) -> Source:
    """`patience`: seconds after which an answer is overdue. It holds items, and can be bounded, if the source
    does and can.
    """
    if isinstance(source, BoundedSource):
        return _PatientBounded(source, patience)
    if isinstance(source, HoldingSource):
        return _PatientHolding(source, patience)
    return _Patient(source, patience)
