"""Fills a RabbitMQ queue; a message's id is its item's name."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b

from aio_pika.abc import AbstractConnection
from aio_pika.exceptions import AMQPError, ChannelNotFoundEntity

from wqc.runtime.filling.filler import Absent, Entry
from wqc.runtime.rabbitmq.connection import Connection
from wqc.runtime.rabbitmq.publishing import persistent, publish


class RabbitFiller:
    """`create`: make the queue if it isn't there. `timeout`: seconds for an answer."""

    def __init__(self, where: Connection, queue: str, create: bool, timeout: float) -> None:
        self._where = where
        self._queue = queue
        self._create = create
        self._timeout = timeout
        self._connection: AbstractConnection | None = None

    async def put(self, entries: Sequence[Entry]) -> None:
        with self._where.told(self._queue):
            if self._connection is None:
                self._connection = await self._where.open("wqc fill", self._timeout)
            messages = [persistent(entry.body, _id(entry.name)) for entry in entries]
            try:
                await publish(
                    self._connection, self._queue, messages, create=self._create, timeout=self._timeout
                )
            except ChannelNotFoundEntity:
                raise Absent(f"RabbitMQ at {self._where.place} has no queue {self._queue}") from None

    async def close(self) -> None:
        if self._connection:
            with suppress(AMQPError, OSError, TimeoutError):
                async with asyncio.timeout(self._timeout):
                    await self._connection.close()


def _id(name: str) -> str:
    """AMQP has 255 bytes for it."""
    content = name.encode(errors="surrogatepass")
    return name if len(content) <= 255 else blake2b(content, digest_size=16).hexdigest()
