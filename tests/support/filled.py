"""Message queues of real brokers with items on them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.kafka import Kafka, kafka_server
from support.rabbitmq_server import RabbitServer, rabbitmq_server
from support.redis_server import PASSWORD, RedisServer, redis_server

ITEMS = 500


@dataclass(frozen=True)
class Filled:
    """A broker with the items `{"n": 0}`, `{"n": 1}`, … on it."""

    kind: str
    block: str
    """The source as the language has it."""
    options: dict[str, Any]
    """As an ambassador has it."""
    left: Callable[[], int]
    """How many messages nobody was done with."""
    server: RedisServer | RabbitServer | Kafka


@contextmanager
def redis_list(folder: Path) -> Iterator[Filled]:
    with redis_server(folder / "redis") as server:
        server.push("jobs", (f'{{"n": {number}}}' for number in range(ITEMS)))
        options = {"brokers": server.address, "key": "jobs", "auth": _password(folder, PASSWORD)}

        def left() -> int:
            held = server.client.hlen("jobs:test.numbers:held")
            return int(server.client.llen("jobs") + held)

        block = 'redis_list { brokers = "redis:6379", key = "jobs" }'
        yield Filled("redis_list", block, options, left, server)


@contextmanager
def redis_stream(folder: Path) -> Iterator[Filled]:
    with redis_server(folder / "redis") as server:
        server.add("jobs", ({"n": number} for number in range(ITEMS)))
        options = {"brokers": server.address, "key": "jobs", "auth": _password(folder, PASSWORD)}

        def left() -> int:
            (group,) = server.client.xinfo_groups("jobs")
            return int(group["pending"]) + int(group["lag"] or 0)

        block = 'redis_stream { brokers = "redis:6379", key = "jobs" }'
        yield Filled("redis_stream", block, options, left, server)


@contextmanager
def rabbitmq(folder: Path, query: str = "", **where: Any) -> Iterator[Filled]:
    """`query`: of the address. `where`: the server's host, and its command's prefix."""
    with rabbitmq_server(folder / "rabbitmq", **where) as server:
        server.declare("jobs")
        server.put("jobs", *(f'{{"n": {number}}}' for number in range(ITEMS)))
        options = {
            "brokers": server.brokers,
            "queue": "jobs",
            "identity": "payload",
            "auth": _password(folder, f"{server.url}?{query}"),
        }

        def left() -> int:
            until = time.monotonic() + 30
            while (count := server.left("jobs")) and time.monotonic() < until:
                time.sleep(0.2)
            return count

        block = 'rabbitmq { brokers = "mq:5672", queue = "jobs", identity = payload }'
        yield Filled("rabbitmq", block, options, left, server)


@contextmanager
def kafka(folder: Path, **where: Any) -> Iterator[Filled]:
    """`where`: as `rabbitmq`'s."""
    (folder / "kafka").mkdir()
    with kafka_server(folder / "kafka", **where) as server:
        server.create("jobs", 3)
        server.send("jobs", ({"n": number} for number in range(ITEMS)))
        options = {"brokers": server.brokers, "topic": "jobs"}

        def left() -> int:
            return ITEMS - sum(server.committed("jobs", "test.numbers").values())

        block = 'kafka { brokers = "kafka:9092", topic = "jobs" }'
        yield Filled("kafka", block, options, left, server)


def _password(folder: Path, text: str) -> dict[str, str]:
    (folder / "secret").write_text(text)
    return {"file": str(folder / "secret")}
