"""A wait ends with its event, with its time, and when it is cancelled, whatever comes together."""

import asyncio
import time

import pytest

from wqc.runtime.waiting import until_set


def test_the_event_or_the_time() -> None:
    async def scenario() -> None:
        event = asyncio.Event()
        begun = time.monotonic()
        await until_set(event, 0.05)
        assert time.monotonic() - begun >= 0.04
        event.set()
        await until_set(event, None)
        await until_set(event, 60)

    asyncio.run(asyncio.wait_for(scenario(), 30))


@pytest.mark.parametrize("turns", range(5))
def test_a_cancellation_that_comes_with_the_event(turns: int) -> None:
    """So many turns of the event loop lie between the two."""

    async def work(event: asyncio.Event) -> None:
        while True:
            await until_set(event, 60)
            event.clear()

    async def scenario() -> None:
        event = asyncio.Event()
        task = asyncio.create_task(work(event))
        await asyncio.sleep(0.01)
        event.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=10)
        task.cancel()
        assert done

    asyncio.run(scenario())
