"""Writes what the manager says into the workflow's state, seldom, and only if it has changed."""

import asyncio
import logging
from collections.abc import Callable

from wqc.runtime.logs import log
from wqc.runtime.status import STATUS, Status, encode_report
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import Refused


async def report(store: StateStore, status: Callable[[], Status], period: float) -> None:
    """Every `period` seconds; never returns."""
    last: Status | None = None
    while True:
        now = status()
        if now != last and all(queue.knows for queue in now.queues):
            try:
                await store.write({STATUS: encode_report(now)})
                last = now
            except (Refused, Conflict) as error:
                log(logging.WARNING, "can't report how it is", reason=str(error))
        await asyncio.sleep(period)
