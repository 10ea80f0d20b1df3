"""Writes what the manager says into the workflow's state, seldom, and only if it has changed."""

import asyncio
import logging
from collections.abc import Callable

from wqc.runtime.logs import log
from wqc.runtime.manager.status import STATUS, Status, encode_report
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import Refused


async def report(store: StateStore, status: Callable[[], Status], period: float) -> None:
    """Every `period` seconds, and a last time when it is cancelled; never returns."""
    last: Status | None = None
    try:
        while True:
            last = await _report(store, status(), last)
            await asyncio.sleep(period)
    finally:
        await _report(store, status(), last)


async def _report(store: StateStore, now: Status, last: Status | None) -> Status | None:
    """What was reported last."""
    if now == last or not all(queue.knows for queue in now.queues):
        return last
    try:
        await store.write({STATUS: encode_report(now)})
    except (Refused, Conflict) as error:
        log(logging.WARNING, "can't report how it is", reason=str(error))
        return last
    return now
