"""What is the same of Redis lists and streams, on a real server."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.cable import cable
from support.opened import QUICK, listed, opened, refusal, work_off
from support.redis_server import RedisServer, redis_server


class Entries:
    """Of the numbers 0, 1, …"""

    def __init__(self, kind: str) -> None:
        self.kind = f"redis_{kind}"
        self.is_list = kind == "list"

    def put(self, server: RedisServer, key: str, count: int) -> None:
        if self.is_list:
            server.push(key, map(str, range(count)))
        else:
            server.add(key, ({"n": number} for number in range(count)))

    def noted(self, numbers: list[int]) -> Callable[[str, Any], None]:
        """What adds an item's number."""
        return lambda name, data: numbers.append(data if self.is_list else data["n"])

    def held(self, server: RedisServer, key: str) -> int:
        if self.is_list:
            return int(server.client.hlen(f"{key}:w.words:held"))
        return int(server.client.xpending(key, "w.words")["pending"])


@pytest.fixture(params=["list", "stream"])
def entries(request: pytest.FixtureRequest) -> Entries:
    return Entries(request.param)


def test_what_is_held_is_listed_again_under_the_same_names_after_a_crash(
    entries: Entries, server: RedisServer, password: dict[str, Any]
) -> None:
    key = f"crash-{entries.kind}"
    entries.put(server, key, 700)
    options = {"brokers": server.address, "key": key, **password}

    async def run() -> None:
        async with opened(entries.kind, **options) as crashed:
            before = await crashed.list()
            assert len(before.versions) == 500
            assert before.settling
            await crashed.done(next(iter(before.versions)))
            async with opened(entries.kind, **options) as source:
                after = list((await source.list()).versions)
                assert after[:499] == list(before.versions)[1:]
                assert len(after) == 500
                values: list[int] = []
                await work_off(source, entries.noted(values))
                assert values == list(range(1, 700))

    asyncio.run(run())
    assert entries.held(server, key) == 0


def test_killed_and_started_again_in_the_middle(
    entries: Entries, server: RedisServer, password: dict[str, Any]
) -> None:
    key = f"killed-{entries.kind}"
    entries.put(server, key, 500)
    done: list[int] = []
    note = entries.noted(done)

    def count(name: str, data: Any) -> None:
        note(name, data)
        if len(done) == 250:
            server.kill()
            asyncio.get_running_loop().call_later(0.5, server.start)

    async def run() -> None:
        async with opened(entries.kind, brokers=server.address, key=key, **password) as source:
            await source.list()
            await work_off(source, count)
            assert not (await source.list()).notice

    asyncio.run(run())
    # of the one during which it was killed, it isn't known whether it is done
    assert sorted(set(done)) == list(range(500))
    assert len(done) <= 501
    assert entries.held(server, key) == 0


def test_a_server_that_went_while_the_connection_was_idle(
    entries: Entries, server: RedisServer, password: dict[str, Any]
) -> None:
    async def run() -> None:
        async with opened(entries.kind, brokers=server.address, key="idle", **password) as source:
            await source.list()
            server.kill()
            await asyncio.sleep(0.1)  # the client sees that the connection was closed
            said = {await refusal(source) for _ in range(5)}
            server.start()
            await listed(source, lambda each: True)
            assert said == {f"the Redis server {server.address} can't be reached: Connection refused"}

            # and one that is there again has lost nobody's connection
            server.kill()
            server.start()
            await source.list()

    asyncio.run(run())


def test_the_network_is_cut_for_longer_than_the_server_may_take(
    entries: Entries, tmp_path: Path, password: dict[str, Any]
) -> None:
    async def run() -> None:
        with (
            cable() as way,
            redis_server(tmp_path / "far", True, way.address, way.prefix) as server,
        ):
            entries.put(server, "cut", 500)
            options = {"brokers": server.address, "key": "cut", **password}
            async with opened(entries.kind, replace(QUICK, request=1.5), **options) as source:
                before = list((await source.list()).versions)
                await source.done(before[0])
                way.pull()
                assert (await refusal(source)) == f"the Redis server {server.address} gives no answer"
                await asyncio.sleep(2)
                way.plug()
                assert list((await listed(source)).versions) == before[1:]
                values: list[int] = []
                await work_off(source, entries.noted(values))
                assert values == list(range(1, 500))
            assert entries.held(server, "cut") == 0

    asyncio.run(run())


def test_over_tls(entries: Entries, server: RedisServer, password: dict[str, Any]) -> None:
    key = f"tls-{entries.kind}"
    entries.put(server, key, 1)
    trusted = {"tls": {"file": str(server.files.authority)}}
    options = {"brokers": server.tls_address, "key": key, **password}

    async def run() -> None:
        async with opened(entries.kind, **options, **trusted) as source:
            assert len((await source.list()).versions) == 1
        async with opened(entries.kind, **options, tls=True) as source:
            assert "can't be reached: its certificate isn't trusted" in await refusal(source)

    asyncio.run(run())


def test_what_cannot_be_is_said_in_words(
    entries: Entries, server: RedisServer, password: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "wrong").write_text("guess")
    wrong = {"auth": {"file": str(tmp_path / "wrong")}}
    server.client.set("text", "neither")
    server.client.execute_command("ACL", "SETUSER", "reader", "on", ">pw", "~*", "+ping", "+eval")

    async def said(**options: Any) -> str:
        async with opened(entries.kind, **{"brokers": server.address, "key": "k", **options}) as source:
            return (await refusal(source)).replace(server.address, "SERVER")

    async def run() -> None:
        assert await said(**wrong) == "the Redis server SERVER refuses the default user or the password"
        assert (
            await said(**wrong, username="bob")
            == "the Redis server SERVER refuses the user bob or the password"
        )
        assert await said() == "the Redis server SERVER wants a password: `auth` has none"
        what = entries.kind.removeprefix("redis_")
        assert await said(**password, key="text") == f"text on SERVER is no {what}"
        (tmp_path / "wrong").write_text("pw")
        assert (await said(**wrong, username="reader")).startswith(
            "the Redis server SERVER doesn't allow it: "
        )
        gone = await said(**password, brokers="nowhere.invalid:6379")
        assert gone.startswith("the Redis server nowhere.invalid:6379 can't be reached: ")

    asyncio.run(run())


def test_a_renewed_password_is_used(entries: Entries, server: RedisServer, tmp_path: Path) -> None:
    file = tmp_path / "renewed"
    file.write_text("old")
    server.client.execute_command("ACL", "SETUSER", "fresh", "reset", "on", ">new", "~*", "+@all")
    options = {"brokers": server.address, "key": "k", "username": "fresh", "auth": {"file": str(file)}}

    async def run() -> None:
        async with opened(entries.kind, **options) as source:
            assert "refuses the user fresh" in await refusal(source)
            file.write_text("new")
            await listed(source, lambda each: True)

    asyncio.run(run())
