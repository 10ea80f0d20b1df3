"""Message queues of real brokers with items on them."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.kafka import PASSWORD as KAFKA_PASSWORD
from support.kafka import USER, Kafka, kafka_server
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
    put: Callable[[Iterable[int]], None]
    """More items, on a queue that is made if it isn't there."""
    delete: Callable[[], None]
    """The queue."""
    drop: Callable[[], object]
    """All connections to the broker are closed by it."""
    left: Callable[[], int]
    """How many messages nobody was done with."""
    server: RedisServer | RabbitServer | Kafka


@contextmanager
def redis_list(folder: Path, items: int = ITEMS, **where: Any) -> Iterator[Filled]:
    """`where`: the server's host, and its command's prefix; and whether it is persistent."""
    with redis_server(folder / "redis", **where) as server:

        def put(numbers: Iterable[int]) -> None:
            server.push("jobs", map(_text, numbers))

        def left() -> int:
            held = server.client.hlen("jobs:test.numbers:held")
            return int(server.client.llen("jobs") + held)

        yield _on_redis("redis_list", folder, server, put, left, items)


@contextmanager
def redis_stream(folder: Path, items: int = ITEMS, **where: Any) -> Iterator[Filled]:
    """`where`: as `redis_list`'s."""
    with redis_server(folder / "redis", **where) as server:

        def put(numbers: Iterable[int]) -> None:
            server.add("jobs", ({"n": number} for number in numbers))

        def left() -> int:
            groups = server.client.xinfo_groups("jobs")
            return sum(int(group["pending"]) + int(group["lag"] or 0) for group in groups)

        yield _on_redis("redis_stream", folder, server, put, left, items)


def _on_redis(
    kind: str,
    folder: Path,
    server: RedisServer,
    put: Callable[[Iterable[int]], None],
    left: Callable[[], int],
    items: int,
) -> Filled:
    put(range(items))
    return Filled(
        kind,
        f'{kind} {{ brokers = "redis:6379", key = "jobs" }}',
        {"brokers": server.address, "key": "jobs", "auth": _secret(folder, PASSWORD)},
        put,
        lambda: server.client.delete("jobs"),
        lambda: server.client.client_kill_filter(_type="normal"),
        left,
        server,
    )


@contextmanager
def rabbitmq(folder: Path, items: int = ITEMS, query: str = "", **where: Any) -> Iterator[Filled]:
    """`query`: of the address. `where`: the server's host, and its command's prefix."""
    with rabbitmq_server(folder / "rabbitmq", **where) as server:
        options = {
            "brokers": server.brokers,
            "queue": "jobs",
            "identity": "payload",
            "auth": _secret(folder, f"{server.url}?{query}"),
        }

        def put(numbers: Iterable[int]) -> None:
            server.declare("jobs")
            server.put("jobs", *map(_text, numbers))

        def left() -> int:
            until = time.monotonic() + 30
            while (count := server.left("jobs")) and time.monotonic() < until:
                time.sleep(0.2)
            return count

        block = 'rabbitmq { brokers = "mq:5672", queue = "jobs", identity = payload }'
        put(range(items))
        yield Filled(
            "rabbitmq",
            block,
            options,
            put,
            lambda: server.ask("DELETE", "/queues/%2F/jobs"),
            server.disconnect,
            left,
            server,
        )


@contextmanager
def kafka(folder: Path, items: int = ITEMS, guarded: bool = False, **where: Any) -> Iterator[Filled]:
    """`guarded`: with a password. `where`: as `rabbitmq`'s."""
    (folder / "kafka").mkdir()
    with kafka_server(folder / "kafka", **where) as server:
        options: dict[str, Any] = {"brokers": server.brokers, "topic": "jobs"}
        if guarded:
            options |= {
                "brokers": server.guarded,
                "username": USER,
                "auth": _secret(folder, KAFKA_PASSWORD),
                "tls": {"file": str(server.authority)},
            }
        total = 0

        def put(numbers: Iterable[int]) -> None:
            nonlocal total
            if "jobs" not in server.topics():
                server.create("jobs", 3)
                total = 0
            sent = [{"n": number} for number in numbers]
            server.send("jobs", sent)
            total += len(sent)

        def left() -> int:
            return total - sum(server.committed("jobs", "test.numbers").values())

        block = 'kafka { brokers = "kafka:9092", topic = "jobs" }'
        put(range(items))
        yield Filled(
            "kafka",
            block,
            options,
            put,
            lambda: server.delete("jobs"),
            lambda: None,  # its source makes a new one as soon as the password is another
            left,
            server,
        )


def _text(number: int) -> str:
    return f'{{"n": {number}}}'


def _secret(folder: Path, text: str) -> dict[str, str]:
    (folder / "secret").write_text(text)
    return {"file": str(folder / "secret")}
