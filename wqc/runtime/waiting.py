"""Waiting for an event for a while."""

import asyncio
import contextlib


async def until_set(event: asyncio.Event, seconds: float | None) -> None:
    """At most so long; None: however long it takes.

    `asyncio.wait_for` loses a cancellation that comes together with the event, before Python 3.12
    (python/cpython#86296): a manager that lost its Lease then lived on and did nothing.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
