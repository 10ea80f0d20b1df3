"""What a thread hands over comes in order, whole, and wakes the task that takes it."""

import asyncio
import threading

from wqc.runtime.handover import Handover

COUNT = 20_000


def test_everything_in_order_from_a_thread() -> None:
    async def taken() -> list[int]:
        handover: Handover[int] = Handover()
        thread = threading.Thread(target=lambda: [handover.put(number) for number in range(COUNT)])
        thread.start()
        found: list[int] = []
        async with asyncio.timeout(60):
            while len(found) < COUNT:
                found += await handover.take()
        thread.join()
        return found

    assert asyncio.run(taken()) == list(range(COUNT))


def test_what_came_before_is_taken_at_once() -> None:
    async def taken() -> list[str]:
        handover: Handover[str] = Handover()
        handover.put("a")
        handover.put("b")
        return await handover.take()

    assert asyncio.run(taken()) == ["a", "b"]


def test_it_waits_for_the_next() -> None:
    async def taken() -> tuple[list[str], list[str]]:
        handover: Handover[str] = Handover()
        handover.put("a")
        first = await handover.take()
        following = asyncio.create_task(handover.take())
        await asyncio.sleep(0.05)
        assert not following.done()
        await asyncio.to_thread(handover.put, "b")
        return first, await asyncio.wait_for(following, 10)

    assert asyncio.run(taken()) == (["a"], ["b"])
