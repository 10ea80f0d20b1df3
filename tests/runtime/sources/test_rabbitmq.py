"""RabbitMQ queues, on a real broker."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aio_pika
import pytest

from support.cable import cable
from support.opened import QUICK, listed, opened, refusal, work_off
from support.rabbitmq_server import RabbitServer, rabbitmq_server
from wqc.runtime.sources.source import NoSuchItem


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitServer]:
    with rabbitmq_server(tmp_path_factory.mktemp("rabbitmq")) as started:
        yield started


@pytest.fixture
def options(server: RabbitServer, tmp_path: Path) -> dict[str, Any]:
    return access(server.url, tmp_path)


def access(url: str, folder: Path) -> dict[str, Any]:
    (folder / "url").write_text(f"{url}\n")
    return {"brokers": "the address says it:5672", "auth": {"file": str(folder / "url")}}


async def send(server: RabbitServer, queue: str, bodies: Iterable[bytes]) -> None:
    """Message ids are `m0`, `m1`, …"""
    server.declare(queue, "classic")
    async with await aio_pika.connect(server.url) as connection:
        channel = await connection.channel()
        for number, body in enumerate(bodies):
            message = aio_pika.Message(body, message_id=f"m{number}", delivery_mode=2)
            await channel.default_exchange.publish(message, queue)


def numbers(count: int) -> list[bytes]:
    return [str(number).encode() for number in range(count)]


async def emptied(server: RabbitServer, queue: str) -> None:
    """Its statistics follow within a second or two."""
    async with asyncio.timeout(30):
        while server.left(queue) != 0:
            await asyncio.sleep(0.2)


def test_messages_are_items_in_order_until_they_are_done(
    server: RabbitServer, options: dict[str, Any]
) -> None:
    async def run() -> None:
        await send(server, "order", [b'{"n": 0}', b'{"n": 1}', b'{"n": 2}'])
        async with opened("rabbitmq", queue="order", **options) as source:
            listing = await source.list()
            assert list(listing.versions) == ["m0", "m1", "m2"]
            assert listing.wants_done
            assert not listing.settling
            assert json.loads(await source.get("m1")) == {"n": 1}
            await source.done("m1")
            await source.done("m1")
            assert list((await source.list()).versions) == ["m0", "m2"]
            with pytest.raises(NoSuchItem):
                await source.get("m1")

    asyncio.run(run())


def test_what_was_held_is_delivered_to_the_next_under_the_same_names(
    server: RabbitServer, options: dict[str, Any]
) -> None:
    async def run() -> None:
        await send(server, "crash", numbers(600))
        async with opened("rabbitmq", queue="crash", **options) as crashed:
            before = await crashed.list()
            assert len(before.versions) == 500
            assert before.settling
            await crashed.done("m0")
        async with opened("rabbitmq", queue="crash", **options) as source:
            assert list((await source.list()).versions)[:499] == list(before.versions)[1:]
            values: list[int] = []
            await work_off(source, lambda name, data: values.append(data))
            assert values == list(range(1, 600))
        await emptied(server, "crash")

    asyncio.run(run())


def test_a_message_without_an_id_blocks_what_comes_after_it(
    server: RabbitServer, options: dict[str, Any]
) -> None:
    async def run() -> None:
        await send(server, "nameless", [b"1"])
        server.put("nameless", "2")
        async with opened("rabbitmq", queue="nameless", **options) as source:
            listing = await source.list()
            assert list(listing.versions) == ["m0"]
            assert listing.settling
            assert listing.notice == (
                "a message of nameless has no message_id, and nothing more is read: have its sender set one, "
                "or choose identity = payload or delivery"
            )
            await source.done("m0")
            assert not (await source.list()).versions
        async with opened("rabbitmq", queue="nameless", identity="payload", **options) as source:
            assert len((await listed(source)).versions) == 1

    asyncio.run(run())


def test_equal_payloads_are_one_item_or_two_as_is_chosen(
    server: RabbitServer, options: dict[str, Any]
) -> None:
    async def run() -> None:
        server.declare("equal")
        server.put("equal", *['"same"'] * 20)
        async with opened("rabbitmq", queue="equal", identity="delivery", **options) as source:
            assert len((await source.list()).versions) == 20
        async with opened("rabbitmq", queue="equal", identity="payload", **options) as source:
            (name,) = (await source.list()).versions
            await source.done(name)
            await emptied(server, "equal")

    asyncio.run(run())


def test_a_message_that_follows_one_of_its_name_is_listed_once_that_is_gone(
    server: RabbitServer, options: dict[str, Any]
) -> None:
    async def run() -> None:
        await send(server, "follows", [b"1"])
        async with opened("rabbitmq", queue="follows", **options) as source:
            assert list((await source.list()).versions) == ["m0"]
            await send(server, "follows", [b"2"])
            await source.done("m0")
            listing = await source.list()
            assert not listing.versions
            assert listing.settling
            assert list((await source.list()).versions) == ["m0"]
            assert await source.get("m0") == "2"

    asyncio.run(run())


def test_deliveries_keep_their_names_when_the_connection_is_lost(
    server: RabbitServer, options: dict[str, Any]
) -> None:
    async def run() -> None:
        server.declare("named")
        server.put("named", "1", "1", "2")
        async with opened("rabbitmq", queue="named", identity="delivery", **options) as source:
            before = list((await source.list()).versions)
            for connection in await listed_connections(server):
                server.ask("DELETE", f"/connections/{quote(connection)}")
            after = await listed(source, lambda each: len(each.versions) == 3)
            assert sorted(after.versions) == sorted(before)

    asyncio.run(run())


async def listed_connections(server: RabbitServer) -> list[str]:
    async with asyncio.timeout(30):
        while True:
            found = [each["name"] for each in server.ask("GET", "/connections")]
            if found:
                return found
            await asyncio.sleep(0.2)


@pytest.mark.parametrize(
    ("format", "body", "data"),
    [("text", b"apple\n", "apple\n"), ("bytes", b"\xff\x00", {"base64": "/wA="}), ("json", b"1", 1)],
)
def test_formats(
    server: RabbitServer, options: dict[str, Any], format: str, body: bytes, data: object
) -> None:
    async def run() -> None:
        await send(server, format, [body])
        async with opened("rabbitmq", queue=format, format=format, **options) as source:
            await source.list()
            assert json.loads(await source.get("m0")) == data

    asyncio.run(run())


def test_a_poison_message_is_told_apart_and_holds_up_no_other(
    server: RabbitServer, options: dict[str, Any]
) -> None:
    async def run() -> None:
        await send(server, "poison", [b"1", b"{not json", b"2"])
        async with opened("rabbitmq", queue="poison", **options) as source:
            listing = await source.list()
            assert list(listing.versions) == ["m0", "m1", "m2"]
            assert list(listing.failed) == ["m1"]
            assert json.loads(await source.get("m1"))["item"]["data"] == "{not json"
            await source.done("m1")
            assert not (await source.list()).failed

    asyncio.run(run())


def test_messages_of_a_mebibyte_are_held_a_few_at_a_time(
    server: RabbitServer, options: dict[str, Any]
) -> None:
    large = "x" * (1 << 20)

    async def run() -> None:
        await send(server, "large", [large.encode()] * 50)
        async with opened("rabbitmq", queue="large", format="text", **options) as source:
            listing = await source.list()
            assert len(listing.versions) == 32
            assert listing.settling
            values: list[str] = []
            await work_off(source, lambda name, data: values.append(data))
            assert values == [large] * 50

    asyncio.run(run())


def test_killed_and_started_again_in_the_middle(server: RabbitServer, options: dict[str, Any]) -> None:
    done: list[int] = []

    async def run() -> None:
        await send(server, "killed", numbers(500))
        starting: list[asyncio.Future[None]] = []

        def count(name: str, data: int) -> None:
            done.append(data)
            if len(done) == 250:
                server.kill()
                starting.append(asyncio.get_running_loop().run_in_executor(None, server.start))

        async with opened("rabbitmq", queue="killed", **options) as source:
            await work_off(source, count)
            await starting[0]
            await work_off(source, count)
        await emptied(server, "killed")

    asyncio.run(run())
    assert sorted(set(done)) == list(range(500))


def test_held_for_longer_than_the_broker_allows(server: RabbitServer, options: dict[str, Any]) -> None:
    server.evaluate("application:set_env(rabbit, consumer_timeout, 6000).")

    async def run() -> None:
        await send(server, "slow", numbers(500))
        async with opened("rabbitmq", queue="slow", ack="on_done", **options) as source:
            before = (await source.list()).versions
            await asyncio.sleep(8)
            listing = await listed(source, lambda each: each.notice)
            assert listing.notice == (
                "500 messages of slow are delivered again, as one was held for longer than the broker's "
                "consumer_timeout: have that be longer than the work takes, or choose ack = on_start"
            )
            assert listing.versions == before
            await work_off(source)
        await emptied(server, "slow")

    try:
        asyncio.run(run())
    finally:
        server.evaluate("application:set_env(rabbit, consumer_timeout, 1800000).")


def test_the_network_is_cut_for_longer_than_both_sides_wait(tmp_path: Path) -> None:
    periods = replace(QUICK, request=3.0)

    async def run() -> None:
        with (
            cable() as way,
            rabbitmq_server(tmp_path / "far", host=way.address, prefix=way.prefix) as server,
        ):
            await send(server, "cut", numbers(500))
            far = access(f"{server.url}?heartbeat=1", tmp_path)
            async with opened("rabbitmq", periods, queue="cut", **far) as source:
                before = list((await listed(source, lambda each: len(each.versions) == 500)).versions)
                await source.done("m0")
                await listed(source)
                way.pull()
                await refusal(source, f"RabbitMQ at {server.brokers} gives no answer")
                await asyncio.sleep(5)
                way.plug()
                after = await listed(source, lambda each: len(each.versions) >= 499)
                assert list(after.versions) == before[1:]
                values: list[int] = []
                await work_off(source, lambda name, data: values.append(data))
                assert sorted(values) == list(range(1, 500))
            await emptied(server, "cut")

    asyncio.run(run())


def test_a_queue_that_is_deleted_and_comes_back(server: RabbitServer, options: dict[str, Any]) -> None:
    async def run() -> None:
        await send(server, "gone", numbers(3))
        async with opened("rabbitmq", queue="gone", **options) as source:
            assert len((await source.list()).versions) == 3
            server.ask("DELETE", "/queues/%2F/gone")
            assert await refusal(source) == f"RabbitMQ at {server.brokers} has no queue gone"
            await source_is_told(source)
            await send(server, "gone", [b"7"])
            listing = await listed(source, lambda each: len(each.versions) == 3)
            assert sorted(listing.versions) == ["m0", "m1", "m2"]
            assert listing.notice == "the queue gone was deleted; 3 messages that were held of it are kept"
            values: list[int] = []
            await work_off(source, lambda name, data: values.append(data))
            assert sorted(values) == [1, 2, 7]

    asyncio.run(run())


async def source_is_told(source: Any) -> None:
    """Done with a message that is gone: nothing happens, once it can be asked."""
    async with asyncio.timeout(30):
        while True:
            try:
                await source.done("m0")
                return
            except Exception:
                await asyncio.sleep(0.02)


def test_what_nobody_asks_for_is_given_back(server: RabbitServer, options: dict[str, Any]) -> None:
    async def run() -> None:
        await send(server, "unasked", numbers(3))
        impatient = replace(QUICK, lease=0.3)
        async with opened("rabbitmq", impatient, queue="unasked", **options) as left:
            assert len((await left.list()).versions) == 3
            async with opened("rabbitmq", queue="unasked", **options) as source:
                assert not (await source.list()).versions
                assert len((await listed(source)).versions) == 3
            assert len((await listed(left)).versions) == 3

    asyncio.run(run())


def test_over_tls(server: RabbitServer, tmp_path: Path) -> None:
    assert server.files
    trusted = {"tls": {"file": str(server.files.authority)}}
    tls = f"{server.host}:{server.tls_port}"
    plain = access(server.url.replace(server.brokers, tls), tmp_path)

    async def run() -> None:
        await send(server, "tls", numbers(1))
        async with opened("rabbitmq", queue="tls", **plain, **trusted) as source:
            assert len((await source.list()).versions) == 1
        async with opened("rabbitmq", queue="tls", **plain, tls=True) as source:
            said = await refusal(source)
            assert said.startswith(f"RabbitMQ at {tls} can't be reached: its certificate isn't trusted")

    asyncio.run(run())


def test_what_cannot_be_is_said_in_words(server: RabbitServer, tmp_path: Path) -> None:
    server.declare("there", "classic")

    async def said(url: str, queue: str = "there") -> str:
        async with opened("rabbitmq", queue=queue, **access(url, tmp_path)) as source:
            return (await refusal(source)).replace(server.brokers, "BROKER")

    async def run() -> None:
        wrong = f"amqp://{server.user}:guess@{server.brokers}/"
        assert await said(wrong) == "RabbitMQ at BROKER refuses the user or the password"
        assert await said(server.url, "typo") == "RabbitMQ at BROKER has no queue typo"
        assert await said(f"{server.url}nowhere") == (
            "RabbitMQ at BROKER, virtual host nowhere doesn't let the user into the virtual host"
        )
        assert await said("a secret") == "`auth` isn't an address such as amqp://user:password@host:5672/"
        assert await said("amqp://u:p@127.0.0.1:1/") == (
            "RabbitMQ at 127.0.0.1:1 can't be reached: Connection refused"
        )

    asyncio.run(run())
