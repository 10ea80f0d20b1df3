"""The messages of a Kafka topic, held in memory from their reading on until they are done.

Kafka itself holds them, as long as its retention lets it: what is committed is the lowest offset that isn't
done, so that whoever reads next reads again all that this reader held.
"""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from wqc.runtime.kafka.connection import Connection
from wqc.runtime.kafka.headers import identity
from wqc.runtime.kafka.topic import End, Missing, Partitions, Record, Topic
from wqc.runtime.logs import log
from wqc.runtime.sources.body import Body
from wqc.runtime.sources.broker import Held
from wqc.runtime.sources.progress import Progress, resumed, topic_of
from wqc.runtime.sources.source import NoSuchItem
from wqc.runtime.threads import in_thread

MOST_BYTES = 16 * 1024 * 1024
"""Of the bodies that are held at a time; one message always is."""
WAIT = 0.5
"""Seconds for what may come before the listing goes on without it."""
RENEWED = 3600.0
"""Seconds after which a commit is repeated: brokers forget those that are seven days old."""
TOLD = 3600.0
"""Seconds that people are told of a loss."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Of which topic, from where on (`earliest` or `latest`), and who is to remember how far.

    `tombstone` is what a message without a body says. `dedupe`: seconds within which a carrier's item is the
    same one when it comes again.
    """

    topic: str
    group: str
    start: str
    tombstone: bytes
    dedupe: float


@dataclass(slots=True)
class _Message:
    version: str
    body: bytes
    places: list[tuple[Progress, int]] = field(default_factory=list)
    """Partition and offset; several where it was sent more than once."""


@dataclass(slots=True)
class _Partition:
    progress: Progress
    at_end: bool = False
    committed: tuple[int, str] | None = None
    committed_at: float = 0.0


class KafkaBroker:
    """`patience`: seconds for one request to the brokers."""

    def __init__(self, connection: Connection, reading: Reading, patience: float) -> None:
        self._connection = connection
        self._reading = reading
        self._patience = patience
        self._topic: Topic | None = None
        self._id = ""
        self._partitions: dict[int, _Partition] = {}
        self._messages: dict[str, _Message] = {}
        self._later: dict[str, deque[_Message]] = {}
        """Other versions of what is held, each to follow the one before."""
        self._done: set[tuple[str, str]] = set()
        """Names and versions done since the last listing began: it isn't seen that they are gone."""
        self._bytes = 0
        self._leaderless: tuple[int, ...] = ()
        self._loss = ""
        self._lost_at = 0.0

    @property
    def notice(self) -> str:
        if self._loss and time.monotonic() < self._lost_at + TOLD:
            return self._loss
        if self._leaderless:
            numbers = ", ".join(map(str, self._leaderless))
            return f"nothing comes of partition {numbers} of {self._reading.topic}: it has no leader"
        return self._topic.commit_problem if self._topic else ""

    async def hold(self, limit: int) -> Held:
        topic = await self._connected()
        found = await in_thread(topic.partitions)
        done, self._done = self._done, set()
        try:
            topic = await self._read(topic, found, limit)
        except BaseException:
            self._done |= done
            raise
        more = self._room(limit) <= 0 or not all(each.at_end for each in self._partitions.values())
        # what follows one of its name and version that is done is listed once that is seen to be gone
        versions = {
            name: message.version
            for name, message in self._messages.items()
            if (name, message.version) not in done
        }
        more = more or len(versions) < len(self._messages)
        # while the brokers don't take it, what is done comes back whenever this process starts again
        remember = None if topic.commit_problem else self._reading.dedupe
        return Held(versions, more, remember)

    async def body(self, name: str) -> Body:
        if name not in self._messages:
            raise NoSuchItem(f"{self._reading.topic} has no message {name}, or it is done")
        return self._messages[name].body

    async def done(self, name: str) -> None:
        message = self._messages.pop(name, None)
        if message is None:
            return
        self._done.add((name, message.version))
        for progress, offset in message.places:
            progress.unfinished.discard(offset)
        self._bytes -= len(message.body)
        if following := self._later.get(name):
            self._messages[name] = following.popleft()
            if not following:
                del self._later[name]

    async def close(self) -> None:
        if topic := self._topic:
            reached = {number: each.progress.commit(self._id) for number, each in self._partitions.items()}
            await self._hang_up(topic, reached)

    # --- the brokers ---

    async def _read(self, topic: Topic, found: Partitions, limit: int) -> Topic:
        """As many messages as there is room for; the topic that they are of, which may be another now."""
        if self._id and found.id != self._id:
            topic = await self._made_anew()
        self._id, self._leaderless = found.id, found.leaderless
        await self._follow(topic, found)
        for told in await in_thread(self._reader(topic, limit)):
            await self._learn(topic, told)
        self._commit(topic)
        return topic

    async def _connected(self) -> Topic:
        """A new connection where there is none, or its credentials aren't the present ones any more."""
        config = self._connection.config()
        if self._topic is None or self._topic.config != config:
            if before := self._topic:
                self._topic = None
                await self._hang_up(before, {})
                for partition in self._partitions.values():
                    partition.committed = None  # of what was under way, nothing is known
            reading = self._reading
            self._topic = Topic(reading.topic, self._connection, config, reading.group, self._patience)
            self._read_on(self._topic)
        return self._topic

    async def _hang_up(self, topic: Topic, reached: Mapping[int, tuple[int, str]]) -> None:
        """`reached`: what is committed before."""
        with contextlib.suppress(TimeoutError):
            # without an answer, what is done is read again and known
            async with asyncio.timeout(self._patience):
                await in_thread(partial(topic.close, reached))

    async def _made_anew(self) -> Topic:
        """Another topic has the name; what is held of the old one is nowhere else any more."""
        assert self._topic
        await self._hang_up(self._topic, {})
        self._topic = None
        self._partitions.clear()
        lost = f"the topic {self._reading.topic} was deleted and made anew"
        self._lose(
            f"{lost}, with {len(self._messages)} messages that weren't done" if self._messages else lost
        )
        return await self._connected()

    async def _follow(self, topic: Topic, found: Partitions) -> None:
        """Read the partitions that there are."""
        new = tuple(number for number in found.numbers if number not in self._partitions)
        if not new:
            return
        # partitions that come later are read as a whole
        latest = self._reading.start == "latest" and not self._partitions
        started = await in_thread(lambda: self._started(topic, new, latest))
        self._partitions |= started
        self._read_on(topic)

    def _started(self, topic: Topic, numbers: tuple[int, ...], latest: bool) -> dict[int, _Partition]:
        committed = topic.committed(numbers)
        started: dict[int, _Partition] = {}
        for number in numbers:
            low, high = topic.ends(number)
            progress = Progress(high if latest and not committed else low)
            if number in committed:
                offset, metadata = committed[number]
                id = topic_of(metadata)
                if id and self._id and id != self._id:
                    self._lose(f"the topic {self._reading.topic} was deleted and made anew")
                elif low <= offset <= high:
                    progress = resumed(offset, metadata)
                else:
                    progress = self._skipped(number, offset, low, high)
            started[number] = _Partition(progress, committed=committed.get(number))
        return started

    def _skipped(self, number: int, offset: int, low: int, high: int) -> Progress:
        """Reading goes on where there is something. What is lost is said."""
        where = f"partition {number} of {self._reading.topic}"
        if offset < low:
            self._lose(f"{where}: {low - offset} messages were deleted by the brokers before they were read")
            return Progress(low)
        self._lose(f"{where} ends at {high}, but was read up to {offset}: the brokers have lost messages")
        return Progress(high)

    def _read_on(self, topic: Topic) -> None:
        if self._partitions:
            for partition in self._partitions.values():
                partition.at_end = False
            topic.read_from({number: each.progress.position for number, each in self._partitions.items()})

    def _reader(self, topic: Topic, limit: int) -> Callable[[], list[Record | End | Missing]]:
        """For a thread: read as many as there is room for. The books are kept on the event loop alone."""
        room = self._room(limit)
        size = self._bytes
        reading = {number for number, partition in self._partitions.items() if not partition.at_end}
        wait = WAIT if reading else 0.0

        def read() -> list[Record | End | Missing]:
            count, held = 0, size
            found: list[Record | End | Missing] = []
            if room <= 0:
                return found
            for told in topic.records(wait):
                found.append(told)
                match told:
                    case Record():
                        reading.add(told.partition)
                        count += 1
                        held += len(told.body or b"")
                    case End():
                        reading.discard(told.partition)
                if count >= room or held >= MOST_BYTES or not reading:
                    break
            return found

        return read

    def _room(self, limit: int) -> int:
        """How many more may be held."""
        if self._bytes >= MOST_BYTES:
            return 0
        return limit - len(self._messages) - sum(map(len, self._later.values()))

    async def _learn(self, topic: Topic, told: Record | End | Missing) -> None:
        partition = self._partitions.get(told.partition)
        if partition is None:
            return
        progress = partition.progress
        match told:
            case End():
                partition.at_end = True
                progress.passed(told.offset)
            case Missing():
                low, high = await in_thread(lambda: topic.ends(told.partition))
                partition.progress = self._skipped(told.partition, progress.position, low, high)
                self._read_on(topic)
            case _ if told.offset >= progress.position:
                partition.at_end = False
                self._take(told, progress)

    def _take(self, record: Record, progress: Progress) -> None:
        if progress.is_finished(record.offset):
            progress.passed(record.offset + 1)
            return
        progress.seen(record.offset)
        body = self._reading.tombstone if record.body is None else record.body
        name, version = self._identity(record)
        place = (progress, record.offset)
        waiting = self._later.get(name, ())
        for message in (self._messages.get(name), *waiting):
            if message and message.version == version:
                message.places.append(place)
                return
        self._bytes += len(body)
        message = _Message(version, body, [place])
        if name in self._messages:
            self._later.setdefault(name, deque()).append(message)
        else:
            self._messages[name] = message

    def _identity(self, record: Record) -> tuple[str, str]:
        """Name and version. A topic that is made anew counts from 0 again, so its own id is part of it."""
        name, version = identity(record.headers)
        if name:
            return name, version
        place = f"{self._reading.topic}-{record.partition}-{record.offset}"
        return (f"{place}@{self._id}" if self._id else place), ""

    def _commit(self, topic: Topic) -> None:
        offsets: dict[int, tuple[int, str]] = {}
        now = time.monotonic()
        refused, topic.refused = topic.refused, set()
        for number, partition in self._partitions.items():
            reached = partition.progress.commit(self._id)
            if number in refused or reached != partition.committed or now >= partition.committed_at + RENEWED:
                offsets[number] = partition.committed = reached
                partition.committed_at = now
        if offsets:
            topic.commit(offsets)

    def _lose(self, what: str) -> None:
        log(logging.WARNING, "messages are lost", topic=self._reading.topic, reason=what)
        self._loss, self._lost_at = what, time.monotonic()
