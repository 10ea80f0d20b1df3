"""The messages of a RabbitMQ queue: taken when they are asked for, unacknowledged until they are done.

What is held is bound to the channel. When that closes, for whatever reason, the broker delivers it all again,
and the same messages have the same names again: by the sender's id or the payload always, by delivery while
this process lives.
"""

import asyncio
import hashlib
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from wqc.runtime.rabbitmq.connection import Connection, hang_up
from wqc.runtime.sources.broker import NEVER_AGAIN, SENT_AGAIN, Held
from wqc.runtime.sources.notices import Notices
from wqc.runtime.sources.source import NoSuchItem, SourceError

if TYPE_CHECKING:
    from aio_pika.abc import AbstractConnection
    from aiormq.abc import AbstractChannel, DeliveredMessage

IDENTITIES = ("message_id", "payload", "delivery")
AT_ONCE = 16
"""Messages that are taken at a time, before it is known how large they are."""
MOST_AT_ONCE = 250
QUIET = 0.1
"""Seconds without a message after which no more are expected."""
MOST_BYTES = 32 << 20
"""That are held; with larger messages, fewer are."""


class RabbitQueue:
    """`identity`: what a name is made from. `timeout`: seconds for an answer. `unasked`: seconds after which
    it gives back what it holds, since nobody asks for it: another manager may.
    """

    def __init__(
        self, connection: Connection, queue: str, identity: str, owner: str, timeout: float, unasked: float
    ) -> None:
        self._where = connection
        self._queue = queue
        self._owner = owner
        self._identity = identity
        self._timeout = timeout
        self._unasked = unasked
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._held: dict[str, list[DeliveredMessage]] = {}
        self._nameless: DeliveredMessage | None = None
        """It has no id, and one is asked for: nothing is got after it."""
        self._bytes = 0
        self._done: set[str] = set()
        """Names that were done since the last listing began: it isn't seen that they are gone."""
        self._earlier: dict[str, list[str]] = {}
        """By body, the names that messages had before the channel closed."""
        self._given_back: dict[str, list[DeliveredMessage]] = {}
        """What was held when the channel closed: the broker has it again, unless its queue is gone."""
        self._orphans: dict[str, bytes] = {}
        """Bodies of messages that were held of a queue that was deleted: nobody else has them."""
        self._given = 0
        self._series = uuid.uuid4().hex[:12]
        self._notices = Notices()
        self._release: asyncio.TimerHandle | None = None
        self._releasing: asyncio.Task[None] | None = None

    @property
    def notice(self) -> str:
        if self._nameless:
            return (
                f"a message of {self._queue} has no message_id, and nothing more is read: have its sender "
                "set one, or choose identity = payload or delivery"
            )
        return self._notices.text

    async def hold(self, limit: int) -> Held:
        from aio_pika.exceptions import ChannelNotFoundEntity

        self._put_off_release()
        done, self._done = self._done, set()
        with self._where.told(self._queue):
            try:
                more = await self._get(limit)
            except BaseException as error:
                self._done |= done
                await self._disconnect()
                if isinstance(error, ChannelNotFoundEntity):
                    self._adopt()
                raise
        self._given_back = {}
        # a message that follows one of the same name that is done is listed once that is seen to be gone
        names = [*self._orphans, *(name for name in self._held if name not in done)]
        remember = NEVER_AGAIN if self._identity == "delivery" else SENT_AGAIN
        return Held(dict.fromkeys(names, ""), more or not done.isdisjoint(self._held), remember)

    async def body(self, name: str) -> bytes:
        if name in self._orphans:
            return self._orphans[name]
        if name not in self._held:
            raise NoSuchItem(f"no message {name} of {self._queue} is held")
        return self._held[name][0].body

    async def done(self, name: str) -> None:
        from aio_pika.exceptions import ChannelInvalidStateError

        self._done.add(name)
        self._orphans.pop(name, None)
        messages = self._held.pop(name, [])
        self._bytes -= sum(len(message.body) for message in messages)
        try:
            async with self._where.asked(self._queue, self._timeout):
                with suppress(ChannelInvalidStateError):  # then it is delivered again
                    for message in messages:
                        await message.channel.basic_ack(message.delivery_tag or 0)
        except SourceError:
            await self._disconnect()
            raise

    async def close(self) -> None:
        if self._release:
            self._release.cancel()
        if self._releasing:
            await self._releasing
        await self._disconnect()

    async def _get(self, limit: int) -> bool:
        """Hold what there is. Whether there is more."""
        channel = await self._open()
        declared = await channel.queue_declare(self._queue, passive=True, timeout=self._timeout)
        waiting = declared.message_count or 0
        while waiting > 0 and self._nameless is None and (room := self._room(limit)) > 0:
            wanted = min(room, waiting)
            taken = await self._take(channel, wanted)
            waiting -= taken
            if taken < wanted:  # somebody else has them
                return False
        return waiting > 0 or self._nameless is not None

    def _room(self, limit: int) -> int:
        """How many more may be held, if they are as large as those that are."""
        count = self._count() + len(self._orphans)
        size = self._bytes + sum(map(len, self._orphans.values()))
        fitting = (MOST_BYTES - size) * count // size if size else AT_ONCE
        return min(limit - count, fitting, MOST_AT_ONCE)

    async def _take(self, channel: "AbstractChannel", wanted: int) -> int:
        """Consume so many messages and no more; how many there were."""
        arrived: list[DeliveredMessage] = []
        complete = asyncio.Event()

        async def deliver(message: "DeliveredMessage") -> None:
            arrived.append(message)
            if len(arrived) == wanted:
                complete.set()

        await channel.basic_qos(prefetch_count=wanted, timeout=self._timeout)
        consumer = await channel.basic_consume(self._queue, deliver, timeout=self._timeout)
        seen = -1
        while len(arrived) < wanted and len(arrived) > seen:
            seen = len(arrived)
            with suppress(TimeoutError):
                async with asyncio.timeout(QUIET):
                    await complete.wait()
        # what is on its way comes before the answer
        await channel.basic_cancel(consumer.consumer_tag or "", timeout=self._timeout)
        for message in arrived:
            self._keep(message)
        return len(arrived)

    def _keep(self, message: "DeliveredMessage") -> None:
        name = self._name(message)
        if name:
            self._held.setdefault(name, []).append(message)
            self._bytes += len(message.body)
        else:
            self._nameless = message

    def _name(self, message: "DeliveredMessage") -> str:
        match self._identity:
            case "message_id":
                return message.header.properties.message_id or ""
            case "payload":
                return _digest(message.body)
        is_again = getattr(message.delivery, "redelivered", False)
        earlier = self._earlier.get(_digest(message.body)) if is_again else None
        if earlier:
            return earlier.pop(0)
        self._given += 1
        return f"{self._series}-{self._given}"

    def _count(self) -> int:
        return sum(map(len, self._held.values()))

    async def _open(self) -> "AbstractChannel":
        if self._channel is None or self._channel.is_closed:
            await self._disconnect()
            self._connection = await self._where.open(f"wqc {self._owner}", self._timeout)
            async with asyncio.timeout(self._timeout):  # the client has no limit for that
                opened = await self._connection.channel()
            channel = self._channel = await opened.get_underlay_channel()
            opened.close_callbacks.add(lambda _, error: self._closed(channel, error))
        return self._channel

    def _closed(self, channel: "AbstractChannel", error: BaseException | None) -> None:
        from aio_pika.exceptions import ChannelPreconditionFailed

        if channel is not self._channel:
            return  # an earlier one
        if isinstance(error, ChannelPreconditionFailed) and "timed out" in str(error):
            self._notices.say(
                f"{self._count()} messages of {self._queue} are delivered again, as one was held for longer "
                "than the broker's consumer_timeout: have that be longer than the work takes, or choose "
                "ack = on_start"
            )
        self._forget()

    def _forget(self) -> None:
        """The broker delivers again what was held."""
        if self._held:
            self._given_back = self._held
            self._earlier = {}
            for name, messages in self._held.items():
                for message in messages:
                    self._earlier.setdefault(_digest(message.body), []).append(name)
        self._held = {}
        self._bytes = 0
        self._nameless = None

    def _adopt(self) -> None:
        """The queue is gone, but what was held of it is the workflow's."""
        if self._given_back:
            count = sum(map(len, self._given_back.values()))
            self._notices.say(
                f"the queue {self._queue} was deleted; {count} messages that were held of it are kept"
            )
            self._orphans |= {name: messages[0].body for name, messages in self._given_back.items()}
            self._given_back, self._earlier = {}, {}

    async def _disconnect(self) -> None:
        connection, self._connection, self._channel = self._connection, None, None
        self._forget()
        if connection:
            await hang_up(connection)

    def _put_off_release(self) -> None:
        if self._release:
            self._release.cancel()
        self._release = asyncio.get_running_loop().call_later(self._unasked, self._give_back)

    def _give_back(self) -> None:
        async def release() -> None:
            await self._disconnect()
            self._given_back = {}  # somebody else's, who may have deleted the queue when all was done

        self._releasing = asyncio.create_task(release())


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()
