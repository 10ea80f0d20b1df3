"""A topic as one reader sees it, without a group's rebalancing. Everything here blocks."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from wqc.runtime.kafka.connection import Config, Connection, Errors, awaited
from wqc.runtime.sources.source import SourceError

AHEAD = {"queued.min.messages": 1000, "queued.max.messages.kbytes": 2048, "fetch.queue.backoff.ms": 20}
"""What the client reads ahead, over all partitions; more only where a single message is larger."""
PIECES = {"fetch.message.max.bytes": 1 << 20, "fetch.max.bytes": 2 << 20}
"""Bytes of an answer from one broker, and of one partition's part of it."""

COORDINATOR_MOVES = (
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)
"""After the brokers' start, and when one is lost: it is there again soon."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """`id` is the topic's own: one that is made anew under the same name has another. "" before Kafka 2.8."""

    id: str
    numbers: tuple[int, ...]
    leaderless: tuple[int, ...]
    """Those that can't be read now."""


@dataclass(frozen=True, slots=True)
class Record:
    partition: int
    offset: int
    headers: Mapping[str, bytes | None]
    body: bytes | None
    """None for a tombstone."""


@dataclass(frozen=True, slots=True)
class End:
    """All of a partition is read; the next message will have this offset or a higher one."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Missing:
    """The partition has no such offset."""

    partition: int


class Topic:
    """`patience`: seconds for one request. It and its methods raise SourceError, but for `close`."""

    def __init__(
        self, name: str, connection: Connection, config: Config, group: str, patience: float
    ) -> None:
        self.name = name
        self.config = config
        self._connection = connection
        self._patience = patience
        self._group = group
        self._errors = Errors()
        self.commit_problem = ""
        self.refused: set[int] = set()
        """The partitions for which a commit failed, until they are taken out to be committed again."""
        common = {**config, "error_cb": self._errors.note}
        with connection.opening():
            self._admin = AdminClient(common)
            self._consumer = Consumer(
                {
                    **common,
                    **AHEAD,
                    **PIECES,
                    "group.id": group,
                    "enable.auto.commit": False,
                    "enable.auto.offset.store": False,
                    "enable.partition.eof": True,
                    "auto.offset.reset": "error",
                    "on_commit": self._committed,
                }
            )

    def partitions(self) -> Partitions:
        try:
            described = self._admin.describe_topics(
                TopicCollection([self.name]), request_timeout=self._patience
            )
            topic = awaited(described[self.name], self._admin.poll, self._errors, self._patience)
        except KafkaException as error:
            raise self._trouble(error) from None
        self._errors.last = None
        return Partitions(
            _shown(str(topic.topic_id)),
            tuple(sorted(partition.id for partition in topic.partitions)),
            tuple(sorted(partition.id for partition in topic.partitions if partition.leader is None)),
        )

    def committed(self, partitions: tuple[int, ...]) -> dict[int, tuple[int, str]]:
        """By partition the offset and its metadata; without those that have none."""
        places = [TopicPartition(self.name, number) for number in partitions]
        until = time.monotonic() + self._patience
        while True:
            try:
                # it learns of new partitions only when it is asked
                self._consumer.list_topics(self.name, self._patience)
                found = self._consumer.committed(places, self._patience)
                for each in found:
                    if each.error:
                        raise KafkaException(each.error)
            except KafkaException as error:
                if error.args[0].code() not in COORDINATOR_MOVES or time.monotonic() > until:
                    raise self._trouble(error) from None
                time.sleep(0.1)
            else:
                return {
                    each.partition: (each.offset, each.metadata or "") for each in found if each.offset >= 0
                }

    def ends(self, partition: int) -> tuple[int, int]:
        """The first offset that is still there, and the one after the last."""
        try:
            ends = self._consumer.get_watermark_offsets(
                TopicPartition(self.name, partition), self._patience, cached=False
            )
        except KafkaException as error:
            raise self._trouble(error) from None
        if ends is None:
            raise SourceError(f"{self._connection.brokers} doesn't say where partition {partition} ends")
        return ends

    def read_from(self, offsets: Mapping[int, int]) -> None:
        """All partitions that are to be read, in place of those before."""
        self._consumer.assign([TopicPartition(self.name, *each) for each in offsets.items()])

    def records(self, seconds: float) -> Iterator[Record | End | Missing]:
        """What comes within that time; it goes on for as long as something does."""
        until = time.monotonic() + seconds
        while True:
            message = self._consumer.poll(max(0.0, until - time.monotonic()))
            if message is None:
                return
            if (told := _told(message)) is not None:
                yield told

    def commit(self, offsets: Mapping[int, tuple[int, str]]) -> None:
        """Without waiting for an answer; `commit_problem` and `refused` say how it went."""
        try:
            self._consumer.commit(offsets=self._places(offsets), asynchronous=True)
        except KafkaException as error:
            self.commit_problem = str(self._trouble(error))
            self.refused.update(offsets)

    def close(self, offsets: Mapping[int, tuple[int, str]]) -> None:
        """Commits these once more and waits for it, as long as the brokers answer: what became of those that
        are under way, nobody would hear.
        """
        until = time.monotonic() + self._patience
        while offsets:
            try:
                self._consumer.commit(offsets=self._places(offsets), asynchronous=False)
                break
            except KafkaException as error:
                if error.args[0].code() not in COORDINATOR_MOVES or time.monotonic() > until:
                    break
                time.sleep(0.1)
        self._consumer.close()

    def _places(self, offsets: Mapping[int, tuple[int, str]]) -> list[TopicPartition]:
        return [TopicPartition(self.name, number, *each) for number, each in offsets.items()]

    def _committed(self, error: KafkaError | None, places: list[TopicPartition]) -> None:
        self.refused.update(each.partition for each in places if error or each.error)
        first = error or next((each.error for each in places if each.error), None)
        self.commit_problem = f"what is done can't be committed: {self._why(first)}" if first else ""

    def _why(self, error: KafkaError) -> str:
        if error.code() in (KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION):
            return f"another program is in the group {self._group}; choose another `group`"
        return self._connection.words(error)

    def _trouble(self, error: KafkaException) -> SourceError:
        found: Any = error.args[0]
        timed_out = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)
        if found.code() in timed_out and self._errors.last is not None:
            found = self._errors.last
        if found.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
            return SourceError(f"there is no topic {self.name} on {self._connection.brokers}")
        if found.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            return SourceError(f"{self._connection.brokers} doesn't let this user read the topic {self.name}")
        return SourceError(self._connection.words(found))


def _shown(id: str) -> str:
    """What stands for it in names: enough of its base64 that no two topics of one name have the same."""
    letters = "".join(filter(str.isalnum, id))
    return letters[:8] if letters.strip("A") else ""


def _told(message: Message) -> Record | End | Missing | None:
    """None for trouble that the client gets over by itself, or that the next look at the topic shows."""
    partition, offset, error = message.partition(), message.offset(), message.error()
    assert partition is not None
    if error is not None:
        if error.code() == KafkaError._PARTITION_EOF and offset is not None:
            return End(partition, offset)
        if error.code() in (
            KafkaError._AUTO_OFFSET_RESET,
            KafkaError.OFFSET_OUT_OF_RANGE,
            KafkaError._LOG_TRUNCATION,
        ):
            return Missing(partition)
        return None
    assert offset is not None
    headers: Any = message.headers() or ()
    return Record(partition, offset, dict(headers), message.value())
