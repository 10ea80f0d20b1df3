"""Tells those who look at the cluster what is blocked, and when it goes on; never of single items."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from wqc.runtime.logs import log
from wqc.runtime.manager.status import Status
from wqc.runtime.stores.store import JobStore, Refused


@dataclass(frozen=True, slots=True)
class _Told:
    problem: str = ""
    at: float = float("-inf")


async def announce(store: JobStore, status: Callable[[], Status], look: float, least: float) -> None:
    """`look`: seconds between two looks. `least`: between two words on a queue that stays blocked."""
    told: dict[str, _Told] = {}
    while True:
        now = status()
        known = [(queue.queue, queue.blocked) for queue in now.queues if queue.knows]
        known += [(carrier.carrier, carrier.blocked) for carrier in now.carriers if carrier.knows]
        for node, blocked in known:
            last = told.get(node, _Told())
            if blocked == last.problem:
                continue
            if blocked and last.problem and time.monotonic() < last.at + least:
                continue
            try:
                await store.announce(node, blocked)
                told[node] = _Told(blocked, time.monotonic())
            except Refused as refused:
                log(logging.WARNING, "can't tell", queue=node, reason=str(refused))
        await asyncio.sleep(look)
