"""An ambassador of a message queue with large messages stays below the memory that it has by default."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import aio_pika
import pytest

from support.ambassador import ambassador, source_settings
from support.memory import allowed, peak_of
from support.rabbitmq_server import rabbitmq_server
from support.redis_server import PASSWORD, redis_server
from wqc.runtime.sources.http import HttpSource

MESSAGES = 100
LARGE = b"x" * (1 << 20)
AT_ONCE = 16
"""As a manager asks for them."""

Filled = Callable[[Path], AbstractContextManager[tuple[str, dict[str, Any]]]]


@contextmanager
def redis_list(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with redis_server(folder / "redis") as server:
        server.push("jobs", [LARGE] * MESSAGES)
        yield "redis_list", {"brokers": server.address, "key": "jobs", "auth": secret(folder, PASSWORD)}


@contextmanager
def redis_stream(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with redis_server(folder / "redis") as server:
        server.add("jobs", [{"body": LARGE}] * MESSAGES)
        yield "redis_stream", {"brokers": server.address, "key": "jobs", "auth": secret(folder, PASSWORD)}


@contextmanager
def rabbitmq(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    async def fill() -> None:
        async with await aio_pika.connect(server.url) as connection:
            channel = await connection.channel()
            await channel.declare_queue("jobs", durable=True)
            for number in range(MESSAGES):
                message = aio_pika.Message(LARGE, message_id=str(number))
                await channel.default_exchange.publish(message, "jobs")

    with rabbitmq_server(folder / "rabbitmq") as server:
        asyncio.run(fill())
        yield "rabbitmq", {"brokers": server.brokers, "queue": "jobs", "auth": secret(folder, server.url)}


def secret(folder: Path, text: str) -> dict[str, str]:
    (folder / "secret").write_text(text)
    return {"file": str(folder / "secret")}


async def work_off(url: str) -> int:
    """How many there were."""
    source = HttpSource(url, 60)
    try:
        count = 0
        while names := list((await source.list()).versions):
            for start in range(0, len(names), AT_ONCE):
                batch = names[start : start + AT_ONCE]
                await asyncio.gather(*map(source.get, batch))
                await asyncio.gather(*map(source.done, batch))
            count += len(names)
        return count
    finally:
        await source.close()


@pytest.mark.parametrize("filled", [redis_list, redis_stream, rabbitmq])
def test_a_hundred_messages_of_a_mebibyte(tmp_path: Path, filled: Filled) -> None:
    with filled(tmp_path) as (kind, options):
        settings = source_settings(tmp_path / "settings", "words", kind, format="text", **options)
        with ambassador(["source", "words"], settings) as served, peak_of(served) as peak:
            assert asyncio.run(work_off(served.url)) == MESSAGES
        assert peak[0] < allowed(kind)
