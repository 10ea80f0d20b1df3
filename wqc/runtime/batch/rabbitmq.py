"""The messages of a RabbitMQ queue, taken one by one: none waits in this pod for another to be done."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, HeadersType
from aio_pika.exceptions import AMQPError, ChannelInvalidStateError, ChannelPreconditionFailed

from wqc.runtime.batch.management import Management
from wqc.runtime.batch.messages import Failure, Lost, Message
from wqc.runtime.logs import log
from wqc.runtime.rabbitmq.connection import Connection
from wqc.runtime.rabbitmq.publishing import persistent, publish
from wqc.runtime.sources.source import SourceError

_LATE = (
    "it was held for longer than the broker's consumer_timeout, and is delivered again: "
    "have that be longer than the work takes"
)


class RabbitQueue:
    """`owner`: whose connection people see there. `timeout`: seconds for an answer."""

    def __init__(
        self, where: Connection, queue: str, owner: str, management: Management | None, timeout: float
    ) -> None:
        self._where = where
        self._name = queue
        self._owner = owner
        self._management = management
        self._timeout = timeout
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._late = False

    async def open(self) -> None:
        with self._where.told(self._name):
            await self._open()

    async def take(self) -> Message | None:
        with self._where.told(self._name):
            channel = await self._open()
            queue = await channel.get_queue(self._name, ensure=False)
            taken = await queue.get(no_ack=False, fail=False, timeout=self._timeout)
        return Message(taken.message_id or "", taken.body, _deliveries(taken), taken) if taken else None

    async def acknowledge(self, message: Message) -> None:
        with self._lost():
            await self._settle(message.receipt)

    async def fail(self, message: Message, failure: Failure) -> None:
        taken: AbstractIncomingMessage = message.receipt
        with self._lost():
            if self._connection is None or taken.channel.is_closed:
                raise ChannelInvalidStateError("the connection was closed")
            headers: HeadersType = {
                **taken.headers,
                "wqc-reason": failure.reason,
                "wqc-attempts": failure.attempts,
                "wqc-message": failure.message,
            }
            copy = persistent(taken.body, taken.message_id, taken.content_type, headers)
            failed = f"{self._name}.failed"
            await publish(self._connection, failed, [copy], create=True, timeout=self._timeout)
            await self._settle(taken)

    async def give_back(self, message: Message) -> None:
        with self._lost():
            await message.receipt.nack(requeue=True)

    async def remaining(self) -> int:
        if self._management is None:
            raise SourceError("RabbitMQ says in its management API alone how many messages are worked on")
        return await self._management.remaining(self._name)

    async def close(self) -> None:
        connection, self._connection, self._channel = self._connection, None, None
        if connection:
            with suppress(AMQPError, OSError, TimeoutError):
                async with asyncio.timeout(self._timeout):
                    await connection.close()

    async def _open(self) -> AbstractChannel:
        if self._channel is None or self._channel.is_closed:
            await self.close()
            self._connection = await self._where.open(f"wqc {self._owner}", self._timeout)
            self._channel = await self._connection.channel()
            self._channel.close_callbacks.add(self._closed)
            await self._channel.declare_queue(self._name, passive=True, timeout=self._timeout)
        return self._channel

    async def _settle(self, taken: AbstractIncomingMessage) -> None:
        await taken.ack()
        # the broker confirms no acknowledgement; but what comes after it on the channel, it answers
        await taken.channel.basic_qos(prefetch_count=1, timeout=self._timeout)

    @contextmanager
    def _lost(self) -> Iterator[None]:
        """What the client raises, of a message that was taken: the broker delivers it again."""
        try:
            with self._where.told(self._name):
                yield
        except SourceError as error:
            raise Lost(_LATE if self._late else str(error)) from None

    def _closed(self, channel: object, error: BaseException | None) -> None:
        self._late = isinstance(error, ChannelPreconditionFailed) and "timed out" in str(error)
        if self._late:
            log(logging.WARNING, "a message is taken back while it is worked on", reason=_LATE)


def _deliveries(message: AbstractIncomingMessage) -> int:
    """A quorum queue counts those before; others only say whether there were any."""
    before = message.headers.get("x-delivery-count")
    return before + 1 if isinstance(before, int) else 0
