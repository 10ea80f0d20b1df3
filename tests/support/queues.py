"""Queues of real brokers, as what fills them and looks at them sees them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from support.rabbitmq_server import RabbitServer
from support.redis_server import PASSWORD, RedisServer

SOURCE = "words"


class Queue(Protocol):
    settings: Mapping[str, Any]
    """The source's, as `wqc build` writes them."""

    environment: Mapping[str, str]
    """Of who reads it."""

    def put(self, *bodies: str) -> None: ...

    def left(self) -> int:
        """Messages that wait or are held."""
        ...

    def failed(self) -> list[str]:
        """The bodies of what was given up."""
        ...


@dataclass(frozen=True)
class RedisList:
    server: RedisServer
    key: str
    format: str = "text"
    environment: Mapping[str, str] = field(default_factory=lambda: {"REDIS_PASSWORD": PASSWORD})

    @property
    def settings(self) -> dict[str, Any]:
        options = {
            "brokers": self.server.address,
            "key": self.key,
            "format": self.format,
            "auth": {"env": "REDIS_PASSWORD"},
        }
        return {"source": SOURCE, "kind": "redis_list", "workflow": "w", "options": options}

    def put(self, *bodies: str) -> None:
        self.server.client.rpush(self.key, *bodies)

    def left(self) -> int:
        client = self.server.client
        return int(client.llen(self.key)) + int(client.hlen(f"{self.key}:w.{SOURCE}:taken"))

    def failed(self) -> list[str]:
        return [body.decode() for body in self.server.client.lrange(f"{self.key}.failed", 0, -1)]


@dataclass(frozen=True)
class RedisStream:
    """A message is an entry with a field `word`."""

    server: RedisServer
    key: str
    format: str = "text"
    environment: Mapping[str, str] = field(default_factory=lambda: {"REDIS_PASSWORD": PASSWORD})

    @property
    def settings(self) -> dict[str, Any]:
        options = {
            "brokers": self.server.address,
            "key": self.key,
            "format": self.format,
            "auth": {"env": "REDIS_PASSWORD"},
        }
        return {"source": SOURCE, "kind": "redis_stream", "workflow": "w", "options": options}

    def put(self, *bodies: str) -> None:
        for body in bodies:
            self.server.client.xadd(self.key, {"word": body})

    def left(self) -> int:
        for group in self.server.client.xinfo_groups(self.key):
            if group["name"] == f"w.{SOURCE}".encode():
                return int(group["pending"]) + int(group["lag"])
        return int(self.server.client.xlen(self.key))

    def failed(self) -> list[str]:
        entries = self.server.client.xrange(f"{self.key}.failed")
        return [fields[b"word"].decode() for _, fields in entries]


@dataclass(frozen=True)
class RabbitQueue:
    """`query`: of the address, such as `heartbeat=1`."""

    server: RabbitServer
    name: str
    format: str = "text"
    query: str = ""

    @property
    def environment(self) -> dict[str, str]:
        return {"RABBITMQ_URL": f"{self.server.url}?{self.query}"}

    @property
    def settings(self) -> dict[str, Any]:
        options = {
            "brokers": self.server.brokers,
            "queue": self.name,
            "format": self.format,
            "identity": "delivery",
            "management": self.server.management,
            "auth": {"env": "RABBITMQ_URL"},
        }
        return {"source": SOURCE, "kind": "rabbitmq", "workflow": "w", "options": options}

    def put(self, *bodies: str) -> None:
        self.server.put(self.name, *bodies)

    def left(self) -> int:
        return self.server.left(self.name)

    def failed(self) -> list[str]:
        return [message["payload"] for message in self.server.get(f"{self.name}.failed")]
