"""Publishes to a Kafka topic: the data as the message's value, name and version as its headers.

The name is the message's key as well, so that all versions of an item are in one partition, in order.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable
from concurrent.futures import Future
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicCollection
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its documentation exports both
    AdminClient,
    ConfigResource,
)
from confluent_kafka.cimpl import NewTopic

from wqc.runtime.carriers.carrier import NotAccepted
from wqc.runtime.carriers.replicas import Replicas
from wqc.runtime.kafka.connection import Config, Connection, Errors, awaited
from wqc.runtime.kafka.headers import headers
from wqc.runtime.sources.source import SourceError
from wqc.runtime.threads import in_thread

LARGEST = 64 * 1024 * 1024
"""Bytes of a message that the client sends; what is too large for the topic, the brokers say."""
WAITING = 32 * 1024
"""Kibibytes of messages that wait for the brokers' answer."""
LOOKS = 4
"""A look at the replicas may take so much less time than an acknowledgement."""
_TOO_LARGE = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE)
_REFUSED = (*_TOO_LARGE, KafkaError.INVALID_RECORD, KafkaError.INVALID_TIMESTAMP)
"""The brokers will never take that message."""
_IN_ONE = (*_REFUSED, KafkaError._INVALID_DIFFERENT_RECORD)
"""Or another one that was sent together with it."""
_UNACKNOWLEDGED = (
    KafkaError._MSG_TIMED_OUT,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)
_NO_ANSWER = (
    KafkaError._MSG_TIMED_OUT,
    KafkaError._TIMED_OUT,
    KafkaError._PURGE_QUEUE,
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
)
_NO_TOPIC = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)


@dataclass(frozen=True, slots=True)
class Target:
    """`partitions` and `copies` are for a topic that is made, if `create` says that it is; -1: as the brokers
    are set to have them.
    """

    topic: str
    create: bool
    partitions: int
    copies: int


class KafkaCarrier:
    """`patience`: seconds until an item that isn't acknowledged counts as not published."""

    def __init__(self, connection: Connection, target: Target, patience: float) -> None:
        self._connection = connection
        self._target = target
        self._patience = patience
        self._client: _Client | None = None
        self._connecting: asyncio.Task[_Client] | None = None

    async def publish(self, name: str, version: str, text: str) -> None:
        # all that are published meanwhile wait for the same attempt
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.create_task(self._connected())
        client = await asyncio.shield(self._connecting)
        await client.publish(name, version, text)

    async def close(self) -> None:
        if self._connecting:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        await self._disconnect()

    async def _connected(self) -> "_Client":
        """A new connection where there is none that is good, or its credentials aren't the present ones."""
        config = self._connection.config()
        if self._client and (self._client.is_broken or self._client.config != config):
            await self._disconnect()
        if self._client is None:
            client = _Client(self._connection, config, self._target, self._patience)
            try:
                await in_thread(client.prepare)
            except BaseException:
                await in_thread(client.close)
                raise
            self._client = client
        return self._client

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client:
            await in_thread(client.close)


@dataclass(frozen=True, slots=True)
class _Done:
    problem: KafkaError | None
    partition: int


class _Client:
    """One connection. A thread of its own runs the client's callbacks."""

    def __init__(self, connection: Connection, config: Config, target: Target, patience: float) -> None:
        self.config = config
        self.is_broken = False
        self._connection = connection
        self._target = target
        self._patience = patience
        self._errors = Errors()
        common = {**config, "error_cb": self._note}
        self._sending: Config = {
            **common,
            "enable.idempotence": True,
            "acks": "all",
            # a consumer's property by its documentation, and heeded: brokers make what is asked for otherwise
            "allow.auto.create.topics": False,
            "linger.ms": 5,
            "delivery.timeout.ms": int(1000 * patience),
            "message.max.bytes": LARGEST,
            "queue.buffering.max.kbytes": WAITING,
            # Java's: whoever else writes to the topic has an item's versions in the same partition
            "partitioner": "murmur2_random",
        }
        with connection.opening():
            self._admin = AdminClient(common)
            self._producer = Producer(self._sending)
        self._alone: Producer | None = None
        """Sends each message on its own. The brokers take or refuse what is sent together as a whole."""
        self._replicas = Replicas(
            target.topic,
            lambda seconds: self._producer.list_topics(target.topic, seconds),
            self._least_in_step,
            patience / LOOKS,
        )
        self._closed = False
        self._thread = threading.Thread(target=self._serve, daemon=True, name="kafka")
        self._thread.start()

    def prepare(self) -> None:
        """See that there is a topic. Raises SourceError."""
        topic = self._target.topic
        try:
            described = self._admin.describe_topics(TopicCollection([topic]), request_timeout=self._patience)
            awaited(described[topic], self._admin.poll, self._errors, self._patience)
        except KafkaException as error:
            if error.args[0].code() not in _NO_TOPIC:
                raise SourceError(self._words(error.args[0])) from None
            if not self._target.create:
                where = self._connection.brokers
                raise SourceError(
                    f"there is no topic {topic} on {where}; with `create = true` it is made"
                ) from None
            self._create(self._target)
        self._errors.last = None

    async def publish(self, name: str, version: str, text: str) -> None:
        """Raises SourceError, NotAccepted."""
        await self._asked(self._replicas.before())
        sent = time.monotonic()
        with self._replicas.producing():
            done = await self._send(self._producer, name, version, text)
            if done.problem and done.problem.code() in _IN_ONE:
                if self._alone is None:
                    self._alone = Producer({**self._sending, "batch.num.messages": 1})
                done = await self._send(self._alone, name, version, text)
        if done.problem:
            raise self._failure(await self._why(done.problem))
        await self._asked(self._replicas.after(done.partition, time.monotonic() - sent))

    async def _why(self, problem: KafkaError) -> KafkaError:
        """What is behind it. Raises SourceError if it is that replicas are out of step."""
        if problem.code() in _UNACKNOWLEDGED:
            try:
                await self._replicas.explain()
            except KafkaException as error:
                if error.args[0].code() in _NO_TOPIC:
                    problem = error.args[0]
        return problem

    async def _asked(self, replicas: Awaitable[None]) -> None:
        try:
            await replicas
        except KafkaException as error:
            raise self._failure(error.args[0]) from None

    async def _send(self, producer: Producer, name: str, version: str, text: str) -> _Done:
        """Raises SourceError."""
        delivered: Future[_Done] = Future()

        def report(error: KafkaError | None, message: Message) -> None:
            if not delivered.cancelled():
                delivered.set_result(_Done(error, message.partition() or 0))

        value, key = text.encode(errors="surrogatepass"), name.encode(errors="surrogatepass")
        try:
            producer.produce(
                self._target.topic, value, key, headers=headers(name, version), on_delivery=report
            )
        except BufferError:
            raise SourceError(f"{self._connection.brokers}: too much waits for an answer") from None
        except KafkaException as error:
            raise self._failure(error.args[0]) from None
        return await asyncio.wrap_future(delivered)

    def close(self) -> None:
        for producer in filter(None, (self._producer, self._alone)):
            if self.is_broken:
                producer.purge()
            producer.flush(self._patience)
        self._closed = True
        self._thread.join()

    def _create(self, target: Target) -> None:
        # with fewer copies in step than all, the brokers refuse what is published
        least = {"min.insync.replicas": str(target.copies)} if target.copies > 0 else {}
        new = NewTopic(target.topic, target.partitions, target.copies, config=least)
        try:
            made = self._admin.create_topics([new], request_timeout=self._patience)
            awaited(made[target.topic], self._admin.poll, self._errors, self._patience)
        except KafkaException as error:
            found = error.args[0]
            if found.code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise SourceError(f"the topic {target.topic} can't be made: {self._words(found)}") from None

    def _least_in_step(self, seconds: float) -> int:
        """The topic's `min.insync.replicas`; 1 where this user may not know it, or nobody says it."""
        resource = ConfigResource(ConfigResource.Type.TOPIC, self._target.topic)
        try:
            described = self._admin.describe_configs([resource], request_timeout=seconds)
            found = awaited(described[resource], self._admin.poll, self._errors, seconds)
        except KafkaException:
            return 1
        return int(found["min.insync.replicas"].value)

    def _serve(self) -> None:
        while not self._closed:
            self._producer.poll(0.1)
            if self._alone:
                self._alone.poll(0)

    def _note(self, error: KafkaError) -> None:
        self._errors.note(error)
        if error.code() == KafkaError._FATAL:
            self.is_broken = True

    def _failure(self, error: KafkaError) -> SourceError:
        if error.code() in _TOO_LARGE:
            return NotAccepted(
                f"{self._connection.brokers} finds it too large: see the topic's max.message.bytes"
            )
        if error.code() in _REFUSED:
            return NotAccepted(f"{self._connection.brokers} refuses it: {error.str()}")
        # the topic is gone, or another one has its name: looked at anew
        self.is_broken = self.is_broken or error.code() in _NO_TOPIC or error.fatal()
        return SourceError(self._words(error))

    def _words(self, error: KafkaError) -> str:
        if error.code() in _NO_ANSWER:
            if self._errors.last is not None:
                return self._connection.words(self._errors.last)
            return f"{self._connection.brokers} doesn't acknowledge within {self._patience:g} s"
        if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            return f"{self._connection.brokers} doesn't let this user write to the topic"
        return self._connection.words(error)
