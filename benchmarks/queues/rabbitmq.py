"""RabbitMQ, a durable classic queue."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aio_pika

from queues.broker import BODY
from support.rabbitmq_server import RabbitServer, rabbitmq_server


class RabbitMQ:
    kind = "rabbitmq"

    def __init__(self, server: RabbitServer, address: Path) -> None:
        self.options = {"brokers": server.brokers, "queue": "jobs", "auth": {"file": str(address)}}
        self.server = server
        self.sent = 0

    def fill(self, count: int) -> None:
        asyncio.run(self._fill(count))

    async def _fill(self, count: int) -> None:
        async with await aio_pika.connect(self.server.url) as connection:
            channel = await connection.channel(publisher_confirms=False)
            for _ in range(count):
                self.sent += 1
                message = aio_pika.Message(BODY, message_id=str(self.sent))
                await channel.default_exchange.publish(message, "jobs")
            # what is sent before it, the broker has when this is answered
            await channel.declare_queue("jobs", passive=True)

    async def plain(self, count: int) -> None:
        """Consumed with a prefetch."""
        async with await aio_pika.connect(self.server.url) as connection:
            channel = await connection.channel()
            await channel.set_qos(prefetch_count=250)
            queue = await channel.declare_queue("jobs", passive=True)
            async with queue.iterator() as messages:
                async for message in messages:
                    assert message.body == BODY
                    await message.ack()
                    count -= 1
                    if not count:
                        break


@contextmanager
def rabbitmq(folder: Path) -> Iterator[RabbitMQ]:
    with rabbitmq_server(folder) as server:
        server.declare("jobs", "classic")
        (folder / "address").write_text(server.url)
        yield RabbitMQ(server, folder / "address")
