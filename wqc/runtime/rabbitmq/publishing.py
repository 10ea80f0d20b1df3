"""Messages onto a queue of RabbitMQ, on its disk before anybody goes on."""

import asyncio
from collections.abc import Sequence

import aio_pika
from aio_pika.abc import AbstractConnection, HeadersType
from aio_pika.exceptions import ChannelNotFoundEntity
from aiormq.abc import FieldTable

COUNTING: FieldTable = {"x-queue-type": "quorum"}
"""Such a queue knows how often it has delivered a message."""


def persistent(
    body: bytes,
    message_id: str | None = None,
    content_type: str | None = None,
    headers: HeadersType | None = None,
) -> aio_pika.Message:
    mode = aio_pika.DeliveryMode.PERSISTENT
    return aio_pika.Message(
        body, message_id=message_id, content_type=content_type, headers=headers, delivery_mode=mode
    )


async def publish(
    connection: AbstractConnection,
    queue: str,
    messages: Sequence[aio_pika.Message],
    *,
    create: bool,
    timeout: float,
) -> None:
    """On channels of their own: a queue that isn't there closes the one that asks for it.

    `timeout`: seconds for an answer. Raises what the client does.
    """
    try:
        async with asyncio.timeout(timeout), connection.channel() as channel:
            await channel.declare_queue(queue, passive=True)
        missing = False
    except ChannelNotFoundEntity:
        if not create:
            raise
        missing = True
    async with asyncio.timeout(timeout), connection.channel() as channel:
        if missing:
            await channel.declare_queue(queue, durable=True, arguments=COUNTING)
        exchange = channel.default_exchange
        await asyncio.gather(*(exchange.publish(message, queue) for message in messages))
