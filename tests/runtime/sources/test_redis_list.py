"""Redis lists, on a real server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from support.opened import listed, opened, refusal, work_off
from support.redis_server import RedisServer, redis_server
from wqc.runtime.sources.source import NoSuchItem


def test_entries_are_items_in_order_until_they_are_done(
    server: RedisServer, password: dict[str, Any]
) -> None:
    server.push("order", ['{"n": 1}', '{"n": 2}', '{"n": 3}'])

    async def run() -> None:
        async with opened("redis_list", brokers=server.address, key="order", **password) as source:
            listing = await source.list()
            names = list(listing.versions)
            assert [json.loads(await source.get(name)) for name in names] == [{"n": n} for n in (1, 2, 3)]
            assert listing.wants_done
            assert not listing.settling
            assert not server.client.exists("order")
            await source.done(names[1])
            await source.done(names[1])
            assert list((await source.list()).versions) == [names[0], names[2]]
            with pytest.raises(NoSuchItem):
                await source.get(names[1])

    asyncio.run(run())


def test_equal_payloads_are_different_items(server: RedisServer, password: dict[str, Any]) -> None:
    server.push("equal", ['"same"'] * 20)

    async def run() -> None:
        async with opened("redis_list", brokers=server.address, key="equal", **password) as source:
            assert len((await source.list()).versions) == 20

    asyncio.run(run())


def test_two_sources_share_a_list_but_not_what_they_hold(
    server: RedisServer, password: dict[str, Any]
) -> None:
    server.push("shared", map(str, range(600)))
    options = {"brokers": server.address, "key": "shared", **password}

    async def run() -> None:
        async with (
            opened("redis_list", **options) as one,
            opened("redis_list", workflow="v", **options) as two,
        ):
            first = [await one.get(name) for name in (await one.list()).versions]
            second = [await two.get(name) for name in (await two.list()).versions]
            assert sorted(map(int, first + second)) == list(range(600))
            assert (len(first), len(second)) == (500, 100)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("format", "payload", "data"),
    [
        ("text", b"apple\n", "apple\n"),
        ("bytes", b"\xff\x00", {"base64": "/wA="}),
        ("json", '"é"'.encode(), "é"),
    ],
)
def test_formats(
    server: RedisServer, password: dict[str, Any], format: str, payload: bytes, data: object
) -> None:
    server.push(format, [payload])

    async def run() -> None:
        options = {"brokers": server.address, "key": format, "format": format, **password}
        async with opened("redis_list", **options) as source:
            (name,) = (await source.list()).versions
            assert json.loads(await source.get(name)) == data

    asyncio.run(run())


def test_a_poison_message_is_told_apart_and_holds_up_no_other(
    server: RedisServer, password: dict[str, Any]
) -> None:
    server.push("poison", ["1", "{not json", "2"])

    async def run() -> None:
        async with opened("redis_list", brokers=server.address, key="poison", **password) as source:
            listing = await source.list()
            (poison,) = listing.failed
            assert [await source.get(name) for name in listing.versions if name != poison] == ["1", "2"]
            assert json.loads(await source.get(poison))["item"] == {
                "name": poison,
                "version": "",
                "data": "{not json",
            }
            assert listing.failed[poison].startswith("it isn't JSON: ")
            await source.done(poison)
            assert not (await source.list()).failed

    asyncio.run(run())


def test_payloads_of_a_mebibyte_are_taken_a_few_at_a_time(
    server: RedisServer, password: dict[str, Any]
) -> None:
    large = "x" * (1 << 20)
    server.push("large", [large] * 40)

    async def run() -> None:
        options = {"brokers": server.address, "key": "large", "format": "text", **password}
        async with opened("redis_list", **options) as source:
            listing = await source.list()
            assert len(listing.versions) == 8
            assert listing.settling
            values: list[str] = []
            await work_off(source, lambda name, data: values.append(data))
            assert values == [large] * 40

    asyncio.run(run())


def test_what_is_done_while_it_is_listed_is_not_taken_for_lost(
    server: RedisServer, password: dict[str, Any]
) -> None:
    server.push("meanwhile", map(str, range(600)))

    async def run() -> None:
        async with opened("redis_list", brokers=server.address, key="meanwhile", **password) as source:
            while (listing := await source.list()).versions:
                names = list(listing.versions)[:60]
                telling = [asyncio.create_task(source.done(name)) for name in names]
                while not all(task.done() for task in telling):
                    assert not (await source.list()).notice
                await asyncio.gather(*telling)

    asyncio.run(run())


def test_what_a_server_without_persistence_loses_is_said(tmp_path: Path, password: dict[str, Any]) -> None:
    async def run() -> None:
        with redis_server(tmp_path / "forgetful", persistent=False) as server:
            server.push("lost", map(str, range(600)))
            async with opened("redis_list", brokers=server.address, key="lost", **password) as source:
                before = (await source.list()).versions
                server.kill()
                assert "can't be reached: Connection refused" in await refusal(source)
                server.start()
                listing = await listed(source)
                assert listing.notice == (
                    f"the Redis server {server.address} has lost data, as after a restart without "
                    "persistence; nothing is left of it. Of lost, 0 entries that were held are lost, 500 are "
                    "kept, and 100 or more that waited are lost"
                )
                # what was taken, it still has
                assert listing.versions == before
                for name in list(before)[1:]:
                    await source.done(name)
                # a name never comes again, so what is new isn't taken for what is done
                server.push("lost", ["1"])
                listing = await listed(source, lambda each: len(each.versions) == 2)
                first, fresh = listing.versions
                assert first == next(iter(before))
                assert fresh not in before
                assert await source.get(first) == "0"
                assert listing.notice

    asyncio.run(run())


def test_a_server_set_back_to_an_older_state(server: RedisServer, password: dict[str, Any]) -> None:
    server.push("back", ["1", "2"])

    async def run() -> None:
        async with opened("redis_list", brokers=server.address, key="back", **password) as source:
            (first, second) = (await source.list()).versions
            server.push("back", ["3"])
            (_, _, third) = (await source.list()).versions
            server.client.hdel("back:w.words:held", third)
            server.client.set("back:w.words:last", second)
            notice = (await source.list()).notice
            assert "its data is that of 20" in notice
            assert "Of back, 1 entries that were held are lost" in notice
            server.client.hdel("back:w.words:held", first)
            assert (await source.list()).notice == (
                "1 entries that were held were deleted from back:w.words:held by somebody else"
            )

    asyncio.run(run())
