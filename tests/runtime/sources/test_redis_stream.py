"""Redis streams, on a real server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from support.opened import listed, opened, refusal, work_off
from support.redis_server import RedisServer, redis_server
from wqc.runtime.sources import redis_stream
from wqc.runtime.sources.source import NoSuchItem


def numbers(count: int) -> list[dict[str, Any]]:
    return [{"n": number} for number in range(count)]


def pending(server: RedisServer, key: str, group: str = "w.words") -> int:
    return int(server.client.xpending(key, group)["pending"])


def test_entries_are_items_by_their_ids_until_they_are_done(
    server: RedisServer, password: dict[str, Any]
) -> None:
    ids = server.add("order", [*numbers(2), {"name": '"bob"', "tags": "[1]"}])

    async def run() -> None:
        async with opened("redis_stream", brokers=server.address, key="order", **password) as source:
            listing = await source.list()
            assert list(listing.versions) == ids
            assert not listing.settling
            data = [json.loads(await source.get(name)) for name in ids]
            assert data == [{"n": 0}, {"n": 1}, {"name": "bob", "tags": [1]}]
            await source.done(ids[1])
            await source.done(ids[1])
            assert list((await source.list()).versions) == [ids[0], ids[2]]
            with pytest.raises(NoSuchItem):
                await source.get(ids[1])

    asyncio.run(run())
    assert pending(server, "order") == 2


def test_what_another_consumer_left_behind_is_claimed(
    server: RedisServer, password: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = server.add("left", numbers(30))
    server.client.xgroup_create("left", "team", id="0")
    server.client.xreadgroup("team", "gone", {"left": ">"}, count=10)
    options = {"brokers": server.address, "key": "left", "group": "team", **password}

    async def run() -> None:
        async with opened("redis_stream", **options) as source:
            assert list((await source.list()).versions) == ids[10:]
            monkeypatch.setattr(redis_stream, "LEFT_BEHIND", 100)
            await asyncio.sleep(0.2)
            assert sorted((await listed(source, lambda each: len(each.versions) == 30)).versions) == sorted(
                ids
            )

    asyncio.run(run())


@pytest.mark.parametrize(
    ("format", "data"), [("text", {"a": "1"}), ("bytes", {"a": {"base64": "MQ=="}}), ("json", {"a": 1})]
)
def test_formats(server: RedisServer, password: dict[str, Any], format: str, data: object) -> None:
    server.add(format, [{"a": "1"}])

    async def run() -> None:
        options = {"brokers": server.address, "key": format, "format": format, **password}
        async with opened("redis_stream", **options) as source:
            (name,) = (await source.list()).versions
            assert json.loads(await source.get(name)) == data

    asyncio.run(run())


def test_a_poison_entry_is_told_apart_and_holds_up_no_other(
    server: RedisServer, password: dict[str, Any]
) -> None:
    ids = server.add("poison", [{"n": 1}, {"n": 1, "name": "bob"}, {"n": 1}])

    async def run() -> None:
        async with opened("redis_stream", brokers=server.address, key="poison", **password) as source:
            listing = await source.list()
            assert list(listing.versions) == ids
            assert list(listing.failed) == [ids[1]]
            assert listing.failed[ids[1]].startswith("its field name isn't JSON: ")
            told = json.loads(await source.get(ids[1]))
            assert told["item"]["data"] == {"n": "1", "name": "bob"}

    asyncio.run(run())


def test_entries_of_a_mebibyte_are_read_a_few_at_a_time(
    server: RedisServer, password: dict[str, Any]
) -> None:
    large = "x" * (1 << 20)
    server.add("large", [{"text": large}] * 60)

    async def run() -> None:
        options = {"brokers": server.address, "key": "large", "format": "text", **password}
        async with opened("redis_stream", **options) as source:
            listing = await source.list()
            assert len(listing.versions) == redis_stream.AT_ONCE
            assert listing.settling
            count = 0

            def check(name: str, data: dict[str, str]) -> None:
                nonlocal count
                count += data == {"text": large}

            await work_off(source, check)
            assert count == 60

    asyncio.run(run())


def test_what_a_server_without_persistence_loses_is_said(tmp_path: Path, password: dict[str, Any]) -> None:
    async def run() -> None:
        with redis_server(tmp_path / "forgetful", persistent=False) as server:
            server.add("lost", numbers(600))
            async with opened("redis_stream", brokers=server.address, key="lost", **password) as source:
                before = (await source.list()).versions
                assert len(before) == 500
                server.kill()
                assert "can't be reached: Connection refused" in await refusal(source)
                server.start()
                listing = await listed(source)
                assert listing.notice == (
                    f"the Redis server {server.address} has lost data, as after a restart without "
                    "persistence, or the stream lost was deleted: nothing is left of it. Of 500 entries that "
                    "were pending, 500 are kept"
                )
                # what was read, it still has
                assert listing.versions == before
                server.add("lost", numbers(1))
                for name in list(before)[1:]:
                    await source.done(name)
                listing = await listed(source, lambda each: len(each.versions) == 2)
                first, fresh = listing.versions
                assert first == next(iter(before))
                assert fresh not in before
                assert json.loads(await source.get(first)) == {"n": 0}
                assert "500 entries" in listing.notice

    asyncio.run(run())


def test_a_stream_that_is_not_there_yet_and_one_that_is_deleted(
    server: RedisServer, password: dict[str, Any]
) -> None:
    async def run() -> None:
        async with opened("redis_stream", brokers=server.address, key="late", **password) as source:
            listing = await source.list()
            assert (listing.versions, listing.notice) == ({}, f"there is no stream late on {server.address}")
            server.add("late", numbers(3))
            listing = await source.list()
            assert (len(listing.versions), listing.notice) == (3, "")
            server.client.delete("late")
            seen: list[int] = []
            await work_off(source, lambda name, data: seen.append(data["n"]))
            assert seen == [0, 1, 2]
            listing = await source.list()
            assert not listing.versions
            assert "the stream late was deleted: nothing is left of it. Of 3 entries" in listing.notice

    asyncio.run(run())


def test_a_group_that_is_set_back_reads_again(server: RedisServer, password: dict[str, Any]) -> None:
    ids = server.add("back", numbers(3))

    async def run() -> None:
        async with opened("redis_stream", brokers=server.address, key="back", **password) as source:
            await work_off(source)
            server.client.xgroup_destroy("back", "w.words")
            listing = await source.list()
            assert list(listing.versions) == ids
            assert "it is read again after 0-0" in listing.notice

    asyncio.run(run())


def test_entries_that_are_trimmed_before_they_are_done_are_let_go_and_counted(
    server: RedisServer, password: dict[str, Any]
) -> None:
    ids = server.add("trimmed", numbers(5))
    options = {"brokers": server.address, "key": "trimmed", **password}

    async def run() -> None:
        async with opened("redis_stream", **options) as crashed:
            await crashed.list()
        server.client.xtrim("trimmed", maxlen=2, approximate=False)
        async with opened("redis_stream", **options) as source:
            listing = await source.list()
            assert list(listing.versions) == ids[3:]
            listing = await source.list()
            assert listing.notice == "3 entries of trimmed were deleted or trimmed before they were done"

    asyncio.run(run())
    assert pending(server, "trimmed") == 2
