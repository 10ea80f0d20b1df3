"""The messages of a RabbitMQ queue, taken one by one: none waits in this pod for another to be done."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, HeadersType
from aio_pika.exceptions import ChannelInvalidStateError, ChannelPreconditionFailed

from wqc.runtime.batch.management import Management
from wqc.runtime.batch.messages import Count, Failure, Lost, Message
from wqc.runtime.logs import log
from wqc.runtime.rabbitmq.connection import Connection, hang_up
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
        async with self._asking():
            await self._open()

    async def take(self) -> Message | None:
        async with self._asking():
            channel = await self._open()
            queue = await channel.get_queue(self._name, ensure=False)
            taken = await queue.get(no_ack=False, fail=False)
        return Message(taken.message_id or "", taken.body, _deliveries(taken), taken) if taken else None

    async def acknowledge(self, message: Message) -> None:
        async with self._settling():
            await self._settle(message.receipt)

    async def fail(self, message: Message, failure: Failure) -> None:
        taken: AbstractIncomingMessage = message.receipt
        async with self._settling():
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
        async with self._settling():
            await message.receipt.nack(requeue=True)

    async def count(self) -> Count:
        if self._management is None:
            raise SourceError("RabbitMQ says in its management API alone how many messages are worked on")
        return await self._management.count(self._name)

    async def close(self) -> None:
        connection, self._connection, self._channel = self._connection, None, None
        if connection:
            await hang_up(connection)

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[None]:
        """After trouble the connection is dropped: what it delivers late goes back. Raises SourceError."""
        try:
            async with self._where.asked(self._name, self._timeout):
                yield
        except BaseException:
            await self.close()
            raise

    @asynccontextmanager
    async def _settling(self) -> AsyncIterator[None]:
        """Of a message that was taken: after trouble the broker delivers it again. Raises Lost."""
        try:
            async with self._asking():
                yield
        except SourceError as error:
            raise Lost(_LATE if self._late else str(error)) from None

    async def _open(self) -> AbstractChannel:
        if self._channel is None or self._channel.is_closed:
            await self.close()
            self._late = False
            self._connection = await self._where.open(f"wqc {self._owner}", self._timeout)
            self._channel = await self._connection.channel()
            self._channel.close_callbacks.add(self._closed)
            await self._channel.declare_queue(self._name, passive=True)
        return self._channel

    async def _settle(self, taken: AbstractIncomingMessage) -> None:
        await taken.ack()
        # the broker confirms no acknowledgement; but what comes after it on the channel, it answers
        await taken.channel.basic_qos(prefetch_count=1)

    def _closed(self, channel: object, error: BaseException | None) -> None:
        if isinstance(error, ChannelPreconditionFailed) and "timed out" in str(error):
            self._late = True
            log(logging.WARNING, "a message is taken back while it is worked on", reason=_LATE)


def _deliveries(message: AbstractIncomingMessage) -> int:
    """A quorum queue counts those before; others only say whether there were any."""
    before = message.headers.get("x-delivery-count")
    return before + 1 if isinstance(before, int) else 0
