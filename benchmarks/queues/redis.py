"""Redis lists and streams."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from queues.broker import BODY
from support.redis_server import PASSWORD, RedisServer, redis_server

AT_ONCE = 10_000


class _Redis:
    def __init__(self, server: RedisServer, kind: str, password: Path) -> None:
        self.kind = kind
        self.options = {"brokers": server.address, "key": "jobs", "auth": {"file": str(password)}}
        self.server = server

    def client(self) -> Any:
        return Redis(host=self.server.host, port=self.server.port, password=PASSWORD, protocol=2)


class RedisList(_Redis):
    def fill(self, count: int) -> None:
        for start in range(0, count, AT_ONCE):
            self.server.client.rpush("jobs", *[BODY] * min(AT_ONCE, count - start))

    async def plain(self, count: int) -> None:
        """Moved to a list of its own, and removed there."""
        async with self.client() as client:
            for _ in range(count):
                body = await client.lmove("jobs", "taken", "LEFT", "RIGHT")
                assert body == BODY
                await client.lrem("taken", 1, body)


class RedisStream(_Redis):
    def fill(self, count: int) -> None:
        for start in range(0, count, AT_ONCE):
            self.server.add("jobs", ({"body": BODY} for _ in range(min(AT_ONCE, count - start))))

    async def plain(self, count: int) -> None:
        """In portions, as consumers do."""
        async with self.client() as client:
            taken = 0
            while taken < count:
                wanted = min(250, count - taken)
                read = await client.xreadgroup("test.words", "plain", {"jobs": ">"}, wanted)
                for name, fields in read[0][1]:
                    assert fields == {b"body": BODY}
                    await client.xack("jobs", "test.words", name)
                taken += len(read[0][1])


@contextmanager
def redis_list(folder: Path) -> Iterator[RedisList]:
    with redis_server(folder, persistent=False) as server:
        yield RedisList(server, "redis_list", _password(folder))


@contextmanager
def redis_stream(folder: Path) -> Iterator[RedisStream]:
    with redis_server(folder, persistent=False) as server:
        server.client.xgroup_create("jobs", "test.words", id="0", mkstream=True)
        yield RedisStream(server, "redis_stream", _password(folder))


def _password(folder: Path) -> Path:
    (folder / "password").write_text(PASSWORD)
    return folder / "password"
