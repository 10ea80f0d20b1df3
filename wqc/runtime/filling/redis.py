"""Fills a Redis list at its right end, or a stream."""

from collections.abc import Sequence

from wqc.runtime.filling.bodies import fields_of
from wqc.runtime.filling.filler import Entry
from wqc.runtime.redis.connection import Connection


class RedisListFiller:
    """`timeout`: seconds for an answer."""

    def __init__(self, connection: Connection, key: str, timeout: float) -> None:
        self._connection = connection
        self._key = key
        self._client = connection.client(timeout)

    async def put(self, entries: Sequence[Entry]) -> None:
        with self._connection.told():
            await self._client.rpush(self._key, *(entry.body for entry in entries))

    async def close(self) -> None:
        await self._client.aclose()


class RedisStreamFiller:
    """`timeout`: seconds for an answer."""

    def __init__(self, connection: Connection, key: str, format: str, timeout: float) -> None:
        self._connection = connection
        self._key = key
        self._format = format
        self._client = connection.client(timeout)

    async def put(self, entries: Sequence[Entry]) -> None:
        pipeline = self._client.pipeline(transaction=True)
        for entry in entries:
            pipeline.xadd(self._key, fields_of(entry.body, self._format))
        with self._connection.told():
            await pipeline.execute()

    async def close(self) -> None:
        await self._client.aclose()
