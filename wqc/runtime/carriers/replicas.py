"""Whether every replica of a Kafka topic has what was published to it.

The brokers acknowledge what all replicas in step have, and drop from those one that stays behind; it comes
back among them once it has all that was acknowledged. So if all replicas are in step after a message was
acknowledged, each of them has it. Of a partition only its leader is believed: it knows who was dropped before
it acknowledges anything without them, and others hear of that later.

Where a topic's `min.insync.replicas` is the number of its replicas, the brokers themselves acknowledge only
what all of them have, and nobody is asked.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException

from wqc.runtime.sources.source import SourceError
from wqc.runtime.threads import in_thread

if TYPE_CHECKING:
    from confluent_kafka.admin._metadata import ClusterMetadata, PartitionMetadata

FRESH = 30.0
"""Seconds after which the topic's configuration is looked at again."""
SLOW = 1.0
"""Seconds after which an acknowledgement may have waited until its leader dropped a replica."""
SETTLED = 1.0
"""Seconds after which that leader tells of it: it hears from the controller what it has asked of it."""
TOGETHER = 0.05
"""Seconds that who is acknowledged first waits for the others."""
UNKNOWN = 0.1
"""Seconds between two looks for a topic that was just made, and not every broker has heard of."""
NUMBERS = 8
"""Of partitions that are named."""

Behind = Mapping[int, frozenset[int]]
"""By partition the brokers whose replica is out of step."""


class Replicas:
    """`metadata`: the topic's, as any broker has it. `least`: its `min.insync.replicas`, 1 where that isn't
    to be known. Both may take the seconds that they are called with. `patience`: seconds until it is known
    how the replicas are. Methods raise SourceError, and what those two raise.
    """

    def __init__(
        self,
        topic: str,
        metadata: "Callable[[float], ClusterMetadata]",
        least: Callable[[float], int],
        patience: float,
    ) -> None:
        self._topic = topic
        self._metadata = metadata
        self._least = least
        self._patience = patience
        self._fresh_until = 0.0
        """All were in step; on the monotonic clock."""
        self._brokers_see_to_it = False
        self._survey: asyncio.Task[None] | None = None
        self._under_way = 0
        self._quiet = asyncio.Event()
        self._acknowledged: set[int] = set()
        self._next: asyncio.Task[Behind] | None = None
        self._asking = asyncio.Lock()

    async def before(self) -> None:
        """Nothing is produced while a replica is out of step: it would have to be produced again."""
        if time.monotonic() < self._fresh_until:
            return
        if self._survey is None or self._survey.done():
            self._survey = asyncio.create_task(self._look_round())
            self._survey.add_done_callback(_seen)
        await asyncio.shield(self._survey)

    @contextmanager
    def producing(self) -> Iterator[None]:
        """What is under way to the brokers meanwhile, others may wait for."""
        self._under_way += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._quiet.set()

    async def explain(self) -> None:
        """Why nothing is acknowledged, if that is why."""
        self._fresh_until = 0.0
        await self.before()

    async def after(self, partition: int, waited: float) -> None:
        """Returns if all replicas have what was acknowledged, after so many seconds, in that partition."""
        if waited > SLOW:
            await asyncio.sleep(SETTLED)
        elif self._brokers_see_to_it:
            return
        self._acknowledged.add(partition)
        if self._next is None:
            # all that are acknowledged until it is asked share the answer
            self._next = asyncio.create_task(self._confirm())
            self._next.add_done_callback(_seen)
        behind = await asyncio.shield(self._next)
        if partition in behind:
            raise self._refusal(behind)

    async def _look_round(self) -> None:
        partitions = await in_thread(self._any_broker)
        if behind := _behind(partitions):
            raise self._refusal(behind)
        most = max((len(each.replicas) for each in partitions.values()), default=0)
        self._brokers_see_to_it = most == 1 or await in_thread(lambda: self._least(self._patience)) >= most
        self._fresh_until = time.monotonic() + FRESH

    def _any_broker(self) -> "Mapping[int, PartitionMetadata]":
        until = time.monotonic() + self._patience
        while True:
            try:
                return self._look()[1]
            except KafkaException as error:
                unknown = error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
                if not unknown or time.monotonic() > until:
                    raise
                time.sleep(UNKNOWN)

    async def _confirm(self) -> Behind:
        async with self._asking:
            with suppress(TimeoutError):
                async with asyncio.timeout(TOGETHER):
                    await self._quiet.wait()
            partitions, self._acknowledged, self._next = self._acknowledged, set(), None
            behind = await in_thread(lambda: self._leaders(partitions))
            if behind:
                self._fresh_until = 0.0
            return behind

    def _leaders(self, unsure: set[int]) -> Behind:
        """Of those partitions. Which broker answers is chance, and few have to."""
        behind: dict[int, frozenset[int]] = {}
        until = time.monotonic() + self._patience
        while True:
            who, partitions = self._look()
            behind |= _behind(partitions)
            led = {number for number, each in partitions.items() if each.leader == who}
            unsure = unsure - led - behind.keys()
            if not unsure:
                return behind
            if time.monotonic() > until:
                where = f"{_named('partition', unsure)} of {self._topic}"
                raise SourceError(f"the leader of {where} doesn't say which replicas are in step")

    def _look(self) -> "tuple[int, Mapping[int, PartitionMetadata]]":
        """Who answers, and what."""
        found = self._metadata(self._patience)
        topic = found.topics[self._topic]
        if topic.error is not None:
            raise KafkaException(topic.error)
        return found.orig_broker_id, topic.partitions

    def _refusal(self, behind: Behind) -> SourceError:
        brokers = frozenset[int]().union(*behind.values())
        return SourceError(
            f"{_named('broker', brokers)} {'is' if len(brokers) == 1 else 'are'} out of step with "
            f"{_named('partition', behind)} of {self._topic}: items wait until every replica has them"
        )


def _seen(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # perhaps nobody waits for it any more


def _behind(partitions: "Mapping[int, PartitionMetadata]") -> Behind:
    missing = {number: frozenset(each.replicas).difference(each.isrs) for number, each in partitions.items()}
    return {number: brokers for number, brokers in missing.items() if brokers}


def _named(what: str, numbers: Iterable[int]) -> str:
    given = sorted(numbers)
    shown = ", ".join(map(str, given[:NUMBERS]))
    more = f" and {len(given) - NUMBERS} more" if len(given) > NUMBERS else ""
    return f"{what}{'' if len(given) == 1 else 's'} {shown}{more}"
