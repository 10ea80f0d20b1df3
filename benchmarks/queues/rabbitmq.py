"""RabbitMQ, a durable classic queue."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aio_pika

from queues.broker import BODY
from support.rabbitmq_server import RabbitServer, rabbitmq_server

AT_ONCE = 50_000
PUBLISH = """
Exchange = rabbit_misc:r(<<"/">>, exchange, <<"">>), Body = binary:decode_hex(<<"%s">>),
[rabbit_basic:publish(Exchange, <<"jobs">>, [{message_id, integer_to_binary(N)}], Body)
 || N <- lists:seq(%d, %d)], ok.
"""


class RabbitMQ:
    kind = "rabbitmq"

    def __init__(self, server: RabbitServer, address: Path) -> None:
        self.options = {"brokers": server.brokers, "queue": "jobs", "auth": {"file": str(address)}}
        self.server = server
        self.sent = 0

    def fill(self, count: int) -> None:
        """By the server itself: a client takes half an hour for a million."""
        for start in range(0, count, AT_ONCE):
            first, last = self.sent + 1, self.sent + min(AT_ONCE, count - start)
            self.server.evaluate(PUBLISH % (BODY.hex().upper(), first, last))
            self.sent = last

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
