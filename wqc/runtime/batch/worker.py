"""What works on a batch's items, as who hands them out sees it."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from wqc.runtime.batch.item import Item


class Gone(Exception):
    """The worker has ended, or been told to, before it had done what it took."""


@dataclass(frozen=True, slots=True)
class Report:
    """How an attempt ended. `message` is what the worker said last."""

    exit: int
    timed_out: bool = False
    message: str = ""


class Worker(Protocol):
    gone: asyncio.Event
    """Set when it has ended: nobody waits for a message any more."""

    async def work(self, item: Item) -> Report:
        """Raises Gone."""
        ...


async def pause(worker: Worker, seconds: float) -> None:
    """Raises Gone as soon as the worker is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await worker.gone.wait()
    if worker.gone.is_set():
        raise Gone
