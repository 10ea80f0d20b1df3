"""Tells those who look at the cluster when a queue is blocked, and when it goes on; never of single items."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from wqc.runtime.logs import log
from wqc.runtime.status import Status
from wqc.runtime.stores.store import JobStore, Refused


@dataclass(frozen=True, slots=True)
class _Told:
    problem: str = ""
    at: float = float("-inf")


async def announce(store: JobStore, status: Callable[[], Status], look: float, least: float) -> None:
    """`look`: seconds between two looks. `least`: between two words on a queue that stays blocked."""
    told: dict[str, _Told] = {}
    while True:
        for queue in status().queues:
            last = told.get(queue.queue, _Told())
            if not queue.knows or queue.blocked == last.problem:
                continue
            if queue.blocked and last.problem and time.monotonic() < last.at + least:
                continue
            try:
                await store.announce(queue.queue, queue.blocked)
                told[queue.queue] = _Told(queue.blocked, time.monotonic())
            except Refused as refused:
                log(logging.WARNING, "can't tell", queue=queue.queue, reason=str(refused))
        await asyncio.sleep(look)
