"""A real Kafka (KRaft) on loopback, one node or several, which a test can end, kill and start again."""

import itertools
import json
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import trustme
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic, ResourceType
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from support.jvm import class_path, java
from support.ports import free_port

HOST = "127.0.0.1"
USER, PASSWORD = "reader", "a pass/word with + and #"
_JVM = (
    "-Xmx320m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)
_CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
_QUIET = {"log_level": 0}


@dataclass
class Kafka:
    """One node: a broker, and the controller too if its id is 1.

    `brokers` takes anybody; `guarded` wants TLS and a password (SCRAM-SHA-512, or PLAIN).
    """

    folder: Path
    host: str
    port: int
    guarded_port: int
    controller_port: int
    properties: Mapping[str, str]
    prefix: Sequence[str]
    """What the server's command begins with, such as the way into a network namespace."""
    id: int = 1
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    @property
    def brokers(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def guarded(self) -> str:
        return f"{self.host}:{self.guarded_port}"

    @property
    def authority(self) -> Path:
        return self.folder / "ca.pem"

    # --- the server ---

    def start(self) -> None:
        self.launch()
        self.await_answer()

    def launch(self) -> None:
        self._write_properties()
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._java("kafka.Kafka", str(self.folder / "server.properties")),
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def await_answer(self, brokers: int = 1) -> None:
        """Until it knows of so many."""
        until = time.monotonic() + 90
        while self.id not in (known := self._known_brokers()) or len(known) < brokers:
            assert self.process
            assert self.process.poll() is None, self.tail()
            assert time.monotonic() < until, self.tail()

    def stop(self) -> None:
        """As an administrator does."""
        self._end(lambda process: process.terminate())

    def kill(self) -> None:
        self._end(lambda process: process.kill())

    def tail(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    # --- what is on it ---

    def create(self, topic: str, partitions: int = 1, copies: int = 1, **config: str) -> None:
        """Configuration keys are written with `_` for `.`."""
        named = {key.replace("_", "."): value for key, value in config.items()}
        new = NewTopic(topic, partitions, copies, config=named)
        self._admin.create_topics([new])[topic].result(30)
        self._until(lambda: topic in self.topics())

    def delete(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(30)
        self._until(lambda: topic not in self.topics())

    def widen(self, topic: str, partitions: int) -> None:
        self._admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(30)
        self._until(lambda: self.topics()[topic] == partitions)

    def trim(self, topic: str, partition: int, before: int) -> None:
        """Delete the messages before an offset, as the end of their retention does."""
        place = TopicPartition(topic, partition, before)
        self._admin.delete_records([place])[place].result(30)

    def topics(self) -> dict[str, int]:
        """The numbers of their partitions."""
        found = self._admin.list_topics(timeout=30).topics
        return {name: len(topic.partitions) for name, topic in found.items() if topic.error is None}

    def stored(self, topic: str) -> bytes:
        """Of all its partitions, as this node has it on its disk; it may be dead."""
        logs = sorted((self.folder / "data").glob(f"{topic}-*/*.log"))
        return b"".join(log.read_bytes() for log in logs)

    def config(self, topic: str) -> dict[str, str]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        entries = self._admin.describe_configs([resource])[resource].result(30)
        return {name: entry.value for name, entry in entries.items()}

    def send(self, topic: str, values: Iterable[Any], partition: int | None = None, **headers: str) -> None:
        """Each value as JSON, unless it is bytes, or None for a tombstone; each to the next partition."""
        producer = Producer({"bootstrap.servers": self.brokers, "message.max.bytes": 8 << 20, **_QUIET})
        failed: list[object] = []
        count = itertools.cycle(range(self.topics()[topic]))
        for value in values:
            body = value if isinstance(value, bytes | None) else json.dumps(value).encode()
            to = next(count) if partition is None else partition
            named: Any = [(name.replace("_", "-"), text.encode()) for name, text in headers.items()]
            while True:
                try:
                    producer.produce(
                        topic,
                        body,
                        partition=to,
                        headers=named,
                        on_delivery=lambda error, _: failed.append(error),
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.flush(60)
        assert not any(failed), failed[0]

    def send_in_transaction(self, topic: str, values: Iterable[Any], abort: bool = False) -> None:
        """To partition 0."""
        producer = Producer({"bootstrap.servers": self.brokers, "transactional.id": topic, **_QUIET})
        producer.init_transactions(60)
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, json.dumps(value).encode(), partition=0)
        producer.flush(60)
        if abort:
            producer.abort_transaction(60)
        else:
            producer.commit_transaction(60)

    def committed(self, topic: str, group: str) -> dict[int, int]:
        """By partition the offset that the group goes on from; without those for which it has none."""
        consumer = Consumer({"bootstrap.servers": self.brokers, "group.id": group, **_QUIET})
        try:
            places = [TopicPartition(topic, number) for number in range(self.topics()[topic])]
            return {
                each.partition: each.offset for each in consumer.committed(places, 30) if each.offset >= 0
            }
        finally:
            consumer.close()

    @contextmanager
    def member(self, topic: str, group: str) -> Iterator[None]:
        """Another program that reads the topic as a member of the group."""
        config = {"bootstrap.servers": self.brokers, "group.id": group, "enable.auto.commit": False, **_QUIET}
        consumer = Consumer(config)
        try:
            consumer.subscribe([topic])
            until = time.monotonic() + 60
            while not consumer.assignment():
                assert time.monotonic() < until, self.tail()
                consumer.poll(0.1)
            yield
        finally:
            consumer.close()

    def messages(self, topic: str) -> list[tuple[dict[str, str], bytes | None]]:
        """All that a topic has: headers and body."""
        config = {
            "bootstrap.servers": self.brokers,
            "group.id": "reader",
            "enable.auto.commit": False,
            **_QUIET,
        }
        consumer = Consumer({**config, "isolation.level": "read_committed"})
        found: list[tuple[dict[str, str], bytes | None]] = []
        try:
            for number in range(self.topics()[topic]):
                low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), 30)
                consumer.assign([TopicPartition(topic, number, low)])
                while consumer.position([TopicPartition(topic, number)])[0].offset < high and low < high:
                    message = consumer.poll(30)
                    assert message is not None, f"{topic} gives no more messages before {high}"
                    assert message.error() is None, message.error()
                    headers = {
                        name: value.decode(errors="surrogatepass") for name, value in message.headers() or ()
                    }
                    found.append((headers, message.value()))
        finally:
            consumer.close()
        return found

    @cached_property
    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.brokers, **_QUIET})

    def _until(self, holds: Any) -> None:
        until = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < until, self.tail()
            time.sleep(0.1)

    def _known_brokers(self) -> Collection[int]:
        try:
            return self._admin.list_topics(timeout=2).brokers
        except KafkaException:
            return ()

    def _end(self, how: Any) -> None:
        if self.process:
            how(self.process)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def _java(self, program: str, *arguments: str) -> list[str]:
        return [*self.prefix, java(), *_JVM, "-cp", class_path("kafka"), program, *arguments]

    def _format(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_certificate()
        self._write_properties()
        options = ["format", "--cluster-id", _CLUSTER, "--config", str(self.folder / "server.properties")]
        if self.id == 1:
            options += ["--add-scram", f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]"]
        made = subprocess.run(
            self._java("kafka.tools.StorageTool", *options),
            capture_output=True,
            text=True,
        )
        assert made.returncode == 0, made.stdout + made.stderr

    def _write_properties(self) -> None:
        plain = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        jaas = "listener.name.guarded"
        open_to_all = f"OPEN://{self.host}:{self.port},GUARDED://{self.host}:{self.guarded_port}"
        controls = self.id == 1
        properties = {
            "process.roles": "broker,controller" if controls else "broker",
            "node.id": str(self.id),
            "controller.quorum.voters": f"1@{self.host}:{self.controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listeners": open_to_all
            + (f",CONTROLLER://{self.host}:{self.controller_port}" if controls else ""),
            "advertised.listeners": open_to_all,
            "listener.security.protocol.map": "OPEN:PLAINTEXT,CONTROLLER:PLAINTEXT,GUARDED:SASL_SSL",
            "inter.broker.listener.name": "OPEN",
            f"{jaas}.sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN",
            f"{jaas}.plain.sasl.jaas.config": f'{plain} user_{USER}="{PASSWORD}";',
            f"{jaas}.scram-sha-512.sasl.jaas.config": scram,
            f"{jaas}.ssl.keystore.type": "PEM",
            f"{jaas}.ssl.keystore.location": str(self.folder / "server.pem"),
            "log.dirs": str(self.folder / "data"),
            "auto.create.topics.enable": "false",
            # a node that was killed comes back once its session is over
            "broker.session.timeout.ms": "2000",
            "broker.heartbeat.interval.ms": "500",
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            **self.properties,
        }
        text = "".join(f"{key}={value}\n" for key, value in properties.items())
        (self.folder / "server.properties").write_text(text)

    def _write_certificate(self) -> None:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.authority))
        certificate = authority.issue_cert(self.host)
        key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        chain = (each.bytes() for each in certificate.cert_chain_pems)
        (self.folder / "server.pem").write_bytes(b"".join((pem, *chain)))


@contextmanager
def kafka_server(
    folder: Path, host: str = HOST, prefix: Sequence[str] = (), **properties: str
) -> Iterator[Kafka]:
    """Properties' names are written with `_` for `.`."""
    with kafka_cluster(folder, 1, host, prefix, **properties) as (server,):
        yield server


@contextmanager
def kafka_cluster(
    folder: Path, size: int, host: str = HOST, prefix: Sequence[str] = (), **properties: str
) -> Iterator[Sequence[Kafka]]:
    """So many nodes, of which the first is the controller."""
    java()
    named = {name.replace("_", "."): value for name, value in properties.items()}
    controller = free_port()
    places = [folder] if size == 1 else [folder / f"node{number}" for number in range(1, size + 1)]
    nodes = [
        Kafka(place, host, free_port(), free_port(), controller, named, prefix, number)
        for number, place in enumerate(places, 1)
    ]
    try:
        for node in nodes:
            node._format()
        for node in nodes:
            node.launch()
        for node in nodes:
            node.await_answer(size)
        yield nodes
    finally:
        for node in nodes:
            node.kill()
