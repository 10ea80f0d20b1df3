"""Of several managers one holds the Lease; when it ends, or falls silent, the next one has it."""

import asyncio
from typing import Any

import pytest

from cluster.client import Client
from wqc.runtime.stores.kubernetes.lease import Lease, LeaseLost
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport


def lease(client: Client, name: str, holder: str, duration: int = 1) -> Lease:
    return Lease(Transport(client.api), "default", name, holder, duration)


def test_the_second_waits_until_the_first_lets_go(api_server: Client) -> None:
    async def scenario() -> None:
        first, second = (lease(api_server, "released", holder, 60) for holder in ("a", "b"))
        await first.acquire()
        assert first.is_held
        waiting = asyncio.create_task(second.acquire())
        await asyncio.sleep(1)
        assert not waiting.done()
        assert not second.is_held
        await first.release()
        assert not first.is_held
        # it looks every fifth of the duration
        await asyncio.wait_for(waiting, 20)
        assert second.is_held

    asyncio.run(scenario())


def test_it_is_let_go_though_a_renewal_that_was_cut_off_came_through(api_server: Client) -> None:
    async def scenario() -> None:
        first, unheard, second = (lease(api_server, "late", holder, 60) for holder in ("a", "a", "b"))
        await first.acquire()
        await unheard.acquire()
        await first.release()
        await asyncio.wait_for(second.acquire(), 10)

    asyncio.run(scenario())


def test_the_second_takes_over_when_the_first_falls_silent(api_server: Client) -> None:
    async def scenario() -> None:
        first, second = (lease(api_server, "silent", holder) for holder in ("a", "b"))
        await first.acquire()
        await asyncio.wait_for(second.acquire(), 10)
        assert second.is_held
        assert not first.is_held, "what it would write now it must not"
        with pytest.raises(LeaseLost, match="b has the lease"):
            await asyncio.wait_for(first.keep(), 10)

    asyncio.run(scenario())


def test_it_is_kept_for_as_long_as_it_is_renewed(api_server: Client) -> None:
    async def scenario() -> None:
        first, second = (lease(api_server, "kept", holder, 3) for holder in ("a", "b"))
        await first.acquire()
        keeping = asyncio.create_task(first.keep())
        waiting = asyncio.create_task(second.acquire())
        for _ in range(60):
            await asyncio.sleep(0.1)
            assert first.is_held
        assert not waiting.done()
        keeping.cancel()
        await asyncio.wait_for(waiting, 10)

    asyncio.run(scenario())


class Failing(Transport):
    """So many of its requests fail."""

    failures = 0
    error = ApiError(500, "etcd has no leader")

    async def ask(self, *asked: Any, **more: Any) -> bytes:
        if self.failures:
            self.failures -= 1
            raise self.error
        return await super().ask(*asked, **more)


def test_a_renewal_that_failed_is_tried_again_while_it_may(api_server: Client) -> None:
    async def scenario() -> None:
        transport = Failing(api_server.api)
        first = Lease(transport, "default", "failing", "a", 6)
        await first.acquire()
        keeping = asyncio.create_task(first.keep())
        for _ in range(3):
            # of the four seconds for which it may write, two are over when it is renewed
            transport.failures = 3
            while transport.failures:
                await asyncio.sleep(0.1)
            await asyncio.sleep(1)
            assert first.is_held
            assert not keeping.done()
        transport.failures = 1000
        with pytest.raises(LeaseLost, match="could not be renewed in time"):
            await asyncio.wait_for(keeping, 10)

    asyncio.run(scenario())


def test_a_server_that_is_busy_for_long_does_not_hide_that_it_is_over(api_server: Client) -> None:
    async def scenario() -> None:
        transport = Failing(api_server.api)
        transport.error = ApiError(429, "too many requests", 60.0)
        first = Lease(transport, "default", "busy", "a", 3)
        await first.acquire()
        transport.failures = 1000
        with pytest.raises(LeaseLost, match="could not be renewed in time"):
            await asyncio.wait_for(first.keep(), 10)

    asyncio.run(scenario())


def test_of_many_at_once_one_has_it(api_server: Client) -> None:
    async def scenario() -> None:
        leases = [lease(api_server, "many", f"manager-{number}", 30) for number in range(8)]
        tasks = [asyncio.create_task(each.acquire()) for each in leases]
        await asyncio.sleep(2)
        assert [each.is_held for each in leases].count(True) == 1
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(scenario())
