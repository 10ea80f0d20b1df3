"""Writes what the manager says into the workflow's state, seldom, and only if it has changed."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from wqc.runtime.manager.status import STATUS, Status, Troubled, encode_report
from wqc.runtime.periods import Periods
from wqc.runtime.queue.pause import Pause
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import Refused

SELDOM = 60.0
"""Seconds between two notes for the next manager; each goes with a report, and needs no write of its own."""
NUMBERS = 4
"""So many times as long as news do mere numbers wait: they change all the time, and a report is a write."""


async def report(
    store: StateStore, status: Callable[[], Status], notes: Callable[[], Mapping[str, str]], periods: Periods
) -> None:
    """News each `periods.report` seconds, numbers seldomer, everything when cancelled; never returns."""
    last: Status | None = None
    reported = noted = time.monotonic()
    pause = Pause("", periods, "can't report how it is")
    try:
        while True:
            is_due = time.monotonic() >= noted + SELDOM
            found = status()
            waits = time.monotonic() < reported + NUMBERS * periods.report and _words(found) == _words(last)
            if pause.over and not waits:
                now = await _report(store, found, last, notes() if is_due else {}, pause)
                if now != last:
                    reported = time.monotonic()
                    noted = reported if is_due else noted
                last = now
            await asyncio.sleep(periods.report)
    finally:
        await _report(store, status(), None, notes(), pause)


async def _report(
    store: StateStore, now: Status, last: Status | None, notes: Mapping[str, str], pause: Pause
) -> Status | None:
    """What was reported last."""
    says_nothing = any(not (queue.knows or queue.blocked) for queue in now.queues)
    if says_nothing or _lasting(now) == _lasting(last):
        return last
    try:
        await store.write({STATUS: encode_report(now), **notes})
    except Refused as refused:
        pause.refused(refused)
    except Conflict as conflict:
        pause.refused(Refused(str(conflict)))
    else:
        pause.succeeded()
        return now
    return last


def _lasting(status: Status | None) -> Status | None:
    """Without what changes with the clock though nothing happens."""
    if status is None:
        return None
    queues = (replace(queue, oldest=0.0, arrival_interval=None) for queue in status.queues)
    return replace(status, queues=tuple(queues))


def _words(status: Status | None) -> Status | None:
    """Without the numbers that change as work goes on."""
    if status is None:
        return None
    queues = (
        replace(
            queue,
            waiting=0,
            running=0,
            parallelism=0,
            done=0,
            handing=0,
            oldest=0.0,
            arrival_interval=None,
            slot_time=None,
            rate=0.0,
            retrying=Troubled(),
        )
        for queue in status.queues
    )
    sources = (replace(each, settling=False) for each in status.sources)
    carriers = (replace(each, waiting=0, done=0, rate=0.0) for each in status.carriers)
    return replace(status, sources=tuple(sources), queues=tuple(queues), carriers=tuple(carriers))
