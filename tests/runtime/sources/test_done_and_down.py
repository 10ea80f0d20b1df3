"""A message is done, and one of its name comes after the broker couldn't be reached: it is seen to be gone
first, or nobody would tell a second time that it is done.
"""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from wqc.runtime.kafka.topic import Partitions, Record
from wqc.runtime.rabbitmq.connection import Connection
from wqc.runtime.sources.kafka import KafkaBroker, Reading
from wqc.runtime.sources.progress import Progress
from wqc.runtime.sources.rabbitmq import RabbitQueue
from wqc.runtime.sources.source import SourceError


class Channel:
    async def basic_ack(self, tag: int) -> None:
        """It is lost on the way."""


class Rabbit(RabbitQueue):
    """Delivers `m` whenever it isn't held."""

    is_down = False

    def __init__(self) -> None:
        super().__init__(Connection("rabbit:5672", None, False, None), "q", "message_id", "w", 1.0, 60.0)

    async def _get(self, limit: int) -> bool:
        if self.is_down:
            raise SourceError("it can't be reached")
        if not self._held:
            header = SimpleNamespace(properties=SimpleNamespace(message_id="m"))
            message: Any = SimpleNamespace(body=b"1", header=header, channel=Channel(), delivery_tag=1)
            self._keep(message)
        return False


class Kafka(KafkaBroker):
    """Has another message of a carrier's item `m` at each offset."""

    is_down = False

    def __init__(self) -> None:
        nobody: Any = None
        super().__init__(nobody, Reading("t", "g", "earliest", b"", 60.0), 1.0)
        self._offset = 0

    async def _connected(self) -> Any:
        def partitions() -> Partitions:
            return Partitions("id", (0,), ())

        def commit(offsets: Any) -> None: ...

        return SimpleNamespace(partitions=partitions, commit=commit, commit_problem="", refused=set())

    async def _follow(self, topic: Any, found: Partitions) -> None:
        if self.is_down:
            raise SourceError("it can't be reached")
        if not self._messages:
            self._take(Record(0, self._offset, {"wqc-item": b"m"}, b"1"), Progress(0))
            self._offset += 1

    def _reader(self, topic: Any, limit: int) -> Any:
        return list


@pytest.mark.parametrize("make", [Rabbit, Kafka])
def test_it_is_seen_to_be_gone(make: type[Rabbit] | type[Kafka]) -> None:
    async def scenario() -> None:
        broker = make()
        assert [*(await broker.hold(1)).versions] == ["m"]
        await broker.done("m")
        broker.is_down = True
        with pytest.raises(SourceError):
            await broker.hold(1)
        broker.is_down = False
        held = await broker.hold(1)
        assert ([*held.versions], held.more) == ([], True)
        assert [*(await broker.hold(1)).versions] == ["m"]
        await broker.close()

    asyncio.run(scenario())
