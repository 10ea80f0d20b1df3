"""Kafka topics."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, TopicPartition

from queues.broker import BODY
from support.kafka import Kafka, kafka_server

PARTITIONS = 3
PORTION = 500
"""Messages that are committed together, as many as a source holds."""


class KafkaTopic:
    kind = "kafka"

    def __init__(self, server: Kafka) -> None:
        self.server = server
        self.options = {"brokers": server.brokers, "topic": "jobs"}

    def fill(self, count: int) -> None:
        self.server.send("jobs", repeat(BODY, count))

    async def plain(self, count: int) -> None:
        """Its own reader of the topic, in a group of its own: read, and committed in portions."""
        config = {"bootstrap.servers": self.server.brokers, "group.id": "plain", "enable.auto.commit": False}
        consumer = Consumer({**config, "auto.offset.reset": "earliest"})
        try:
            places = [TopicPartition("jobs", number) for number in range(PARTITIONS)]
            consumer.assign(consumer.committed(places, 30))
            taken = 0
            while taken < count:
                read = consumer.consume(min(PORTION, count - taken), 30)
                assert all(message.value() == BODY for message in read)
                taken += len(read)
                consumer.commit(offsets=consumer.position(places), asynchronous=False)
        finally:
            consumer.close()


@contextmanager
def kafka(folder: Path) -> Iterator[KafkaTopic]:
    with kafka_server(folder / "kafka") as server:
        server.create("jobs", PARTITIONS)
        _coordinated(server)
        yield KafkaTopic(server)


def _coordinated(server: Kafka) -> None:
    """A server that has just started coordinates no group for a while."""
    until = time.monotonic() + 60
    while True:
        try:
            server.committed("jobs", "plain")
            return
        except KafkaException:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
