"""Real brokers for batches, and pods that are processes of this machine."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from support.batch_pod import BatchPod, Journal, MakePod
from support.queues import Queue, RabbitQueue, RedisList, RedisStream
from support.rabbitmq_server import RabbitServer, rabbitmq_server
from support.redis_server import RedisServer, redis_server


@pytest.fixture(scope="session")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitServer]:
    with rabbitmq_server(tmp_path_factory.mktemp("rabbitmq")) as server:
        yield server


@pytest.fixture(params=["redis_list", "redis_stream", "rabbitmq"])
def queue(request: pytest.FixtureRequest) -> Queue:
    """One that is empty, of each broker."""
    name = f"q{uuid4().hex}"
    if request.param == "rabbitmq":
        server: RabbitServer = request.getfixturevalue("rabbitmq")
        server.declare(name)
        return RabbitQueue(server, name)
    kind = RedisList if request.param == "redis_list" else RedisStream
    return kind(request.getfixturevalue("redis"), name)


@pytest.fixture
def pod() -> Iterator[MakePod]:
    """Makes pods that are gone when the test is."""
    pods: list[BatchPod] = []
    # a socket's name has at most 107 bytes, which pytest's folders use up
    with tempfile.TemporaryDirectory(prefix="wqc-") as folder:

        def make(queue: Queue, *options: str, **more: Any) -> BatchPod:
            pods.append(BatchPod(Path(folder, str(len(pods))), queue, *options, **more))
            return pods[-1]

        yield make
        for each in pods:
            each.lose()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)
