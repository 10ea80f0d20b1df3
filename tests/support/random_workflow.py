"""Random workflows over all patterns, and what the pure functions say that each queue and carrier does."""

import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from support.sources import Shared
from wqc.contract.expression import compile_expression
from wqc.patterns.filter import Filter
from wqc.patterns.item import Item, Pattern, Sent
from wqc.patterns.merger import Merger
from wqc.patterns.sharder import Sharder
from wqc.patterns.splitter import Splitter
from wqc.runtime.graph.streams import Bundle, Stream
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.source import Listing
from wqc.runtime.stores.store import QueueFiles
from wqc.runtime.text import encode

Rounds = tuple[list[Item], list[Item]]
"""What comes at first, and what comes when the source has changed after all of that was done."""

FIRST: dict[str, Any] = {f"n{number}": {"id": number} for number in range(12)}
NEXT: dict[str, Any] = {f"n{number}": {"id": 12 + number} for number in (0, 1, 5, 8)} | {"n12": {"id": 20}}
"""Items with new versions, and one that is new."""


class Numbers(Shared):
    """Some items have a version at first, and all that come later."""

    def __init__(self) -> None:
        super().__init__(FIRST)
        self.versions = {name: "" if number % 4 else "v1" for number, name in enumerate(FIRST)}
        self.listings = 0

    async def list(self) -> Listing:
        self.listings += 1
        return Listing(self.versions.copy())

    async def get(self, name: str) -> str:
        """Without blanks: the workers look for `"id":`."""
        return encode(self.data[name])

    def change(self) -> None:
        self.data |= NEXT
        self.versions |= dict.fromkeys(NEXT, "v2")

    def rounds(self) -> Rounds:
        """Before `change`."""
        first = [Item(name, self.versions[name], data) for name, data in FIRST.items()]
        return first, [Item(name, "v2", data) for name, data in NEXT.items()]


async def both_rounds(
    numbers: Numbers, until: Callable[[Callable[[Status], object]], Awaitable[Status]]
) -> Status:
    """What the manager says in the end. `until` waits for what holds."""
    await until(lambda status: status.idle)
    numbers.change()
    before = numbers.listings
    # the second one begins after the first one's items are on their way
    return await until(lambda status: status.idle and numbers.listings >= before + 2)


@dataclass
class Open:
    """A stream that nobody reads yet, and the items that it must carry."""

    stream: Stream
    rounds: Rounds
    is_done: bool = False
    """A queue's finished items, which may stay unread."""


@dataclass(frozen=True)
class Falters:
    """Items whose id, divided by `modulus`, leaves `rest` fail at so many attempts, then don't."""

    modulus: int
    rest: int
    times: int


@dataclass(frozen=True)
class Work:
    """A queue whose worker fails on items whose id, divided by `modulus`, leaves `rest`, at each attempt.

    The id is the last one in an item's JSON: a reader of `.failed` finds it in the item that failed. With
    `adds` the worker's result is `{"id": …}` with so much more.
    """

    queue: str
    modulus: int
    rest: int
    lanes: tuple[str, ...]
    adds: int | None
    falters: Falters | None
    rework: str

    @property
    def settings(self) -> dict[str, Any]:
        result = {} if self.adds is None else {"result": "required"}
        return {"retries": self.falters.times if self.falters else 1, "rework": self.rework, **result}

    def key(self, item: Item) -> tuple[str, str]:
        return item.name, item.version if self.rework == "on_change" else ""

    def fails(self, item: Item) -> bool:
        return number(item.data) % self.modulus == self.rest

    def is_late(self, item: Item) -> bool:
        """It is done, but not at the first attempt."""
        falters = self.falters
        return bool(falters and not self.fails(item) and number(item.data) % falters.modulus == falters.rest)


class Collecting:
    """A carrier that keeps what it is given: as many times as it is given it."""

    def __init__(self) -> None:
        self.published: Counter[str] = Counter()

    async def publish(self, name: str, version: str, text: str) -> None:
        self.published[f"{name} {number(json.loads(text))}"] += 1

    async def close(self) -> None:
        pass


@dataclass
class Plan:
    """A random workflow; for each queue the ids of the items that it must finish, how many must fail, and how
    many of those it must hold; for each carrier the names and ids of what it must publish.
    """

    chance: random.Random
    made: Callable[[Work], QueueFiles]
    workflow: Workflow = field(default_factory=lambda: Workflow("random"))
    files: dict[str, QueueFiles] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=Numbers)
    expected: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    late: set[str] = field(default_factory=set)
    """Queues that some items leave only after they failed."""
    carriers: dict[str, Collecting] = field(default_factory=dict)
    carried: dict[str, Counter[str]] = field(default_factory=dict)
    streams: list[Open] = field(default_factory=list)
    count: int = 0

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def pick(self) -> Open:
        return self.streams.pop(self.chance.randrange(len(self.streams)))

    def queue(self) -> None:
        read = self.pick()
        self.finish_queue(read.stream, read.rounds, ("",))

    def finish_queue(
        self,
        stream: Stream | Bundle[Stream],
        rounds: Rounds,
        lanes: tuple[str, ...],
        gives_result: bool | None = None,
    ) -> None:
        name, chance = self.name("queue"), self.chance
        if gives_result is None:
            gives_result = chance.random() < 0.5
        falters = Falters(chance.randint(2, 4), chance.randint(0, 1), chance.randint(1, 2))
        work = Work(
            name,
            chance.randint(3, 7),
            chance.randint(0, 2),
            lanes,
            chance.randint(1, 5) if gives_result else None,
            falters if chance.random() < 0.5 else None,
            chance.choice(("never", "on_change")),
        )
        self.files[name] = self.made(work)
        done = self.workflow.queue(name, stream)
        first = {work.key(item): item for item in rounds[0]}
        then = {work.key(item): item for item in rounds[1] if work.key(item) not in first}
        worked = (list(first.values()), list(then.values()))
        good = each_round(worked, lambda items: [item for item in items if not work.fails(item)])
        bad = each_round(worked, lambda items: [item for item in items if work.fails(item)])
        self.expected.update(f"{name} {number(item.data)}" for item in chain(*good))
        self.failed[name] = self.held[name] = len([*chain(*bad)])
        if any(map(work.is_late, chain(*good))):
            self.late.add(name)
        if (adds := work.adds) is not None:
            good = each_round(
                good, lambda items: [_with(each, {"id": number(each.data) + adds}) for each in items]
            )
        self.streams.append(Open(done, good, is_done=True))
        if chance.random() < 0.4:
            self.held[name] = 0
            # what the reader gets has no id of its own; its result has
            told = each_round(
                bad, lambda items: [_with(each, {"item": {"data": each.data}}) for each in items]
            )
            self.finish_queue(done.failed, told, ("",), gives_result=True)

    def carrier(self) -> None:
        read, name = self.pick(), self.name("carrier")
        self.workflow.carrier(name, read.stream)
        self.carriers[name] = Collecting()
        self.carried[name] = Counter(f"{each.name} {number(each.data)}" for each in chain(*read.rounds))

    def copier(self) -> None:
        read = self.pick()
        copied = self.workflow.copier(self.name("copier"), read.stream)
        self.streams += [Open(copied, read.rounds), Open(copied, read.rounds)]

    def filter(self) -> None:
        read = self.pick()
        text = f"item.data.id % {self.chance.randint(2, 4)} != 0"
        kept = self.workflow.filter(self.name("filter"), read.stream, where=text)
        self.streams.append(Open(kept, sent(Filter(compile_expression(text)), read.rounds, "")))

    def splitter(self) -> None:
        read = self.pick()
        cases = {"even": "item.data.id % 2 == 0", "third": "item.data.id % 3 == 0"}
        cut = self.workflow.splitter(self.name("splitter"), read.stream, cases=cases)
        pure = Splitter(tuple((case, compile_expression(text)) for case, text in cases.items()), drop=False)
        self.streams += [Open(cut[case], sent(pure, read.rounds, case)) for case in cases]
        self.streams.append(Open(cut.otherwise, sent(pure, read.rounds, "otherwise")))

    def sharder(self) -> None:
        read = self.pick()
        shards = ("a", "b", "c")
        bundle = self.workflow.sharder(self.name("sharder"), read.stream, key="item.data.id", shards=shards)
        pure = Sharder(compile_expression("item.data.id"), shards)
        members = each_round(
            read.rounds, lambda items: [item for shard in shards for item in _sent(pure, items, shard)]
        )
        self.finish_queue(bundle, members, shards)

    def merger(self) -> None:
        if len(self.streams) < 2:
            return
        first, second = self.pick(), self.pick()
        merged = self.workflow.merger(self.name("merger"), {"x": first.stream, "y": second.stream})
        (x, x_then), (y, y_then) = sent(Merger("x"), first.rounds, ""), sent(Merger("y"), second.rounds, "")
        self.streams.append(Open(merged, (x + y, x_then + y_then)))


def number(data: Any) -> int:
    """An item's id, also of one that failed."""
    while "item" in data:
        data = data["item"]["data"]
    return int(data["id"])


def _with(item: Item, data: Any) -> Item:
    return Item(item.name, item.version, data)


def each_round(rounds: Rounds, change: Callable[[list[Item]], list[Item]]) -> Rounds:
    return change(rounds[0]), change(rounds[1])


def sent(pattern: Pattern, rounds: Rounds, output: str) -> Rounds:
    return each_round(rounds, lambda items: _sent(pattern, items, output))


def _sent(pattern: Pattern, items: list[Item], output: str) -> list[Item]:
    found: list[Item] = []
    for item in items:
        verdict = pattern.route(item)
        assert isinstance(verdict, tuple)
        found += [each.item for each in verdict if isinstance(each, Sent) and each.output == output]
    return found


def planned(seed: int, made: Callable[[Work], QueueFiles]) -> Plan:
    plan = Plan(random.Random(seed), made)
    plan.streams.append(Open(plan.workflow.source("numbers"), plan.numbers.rounds()))
    patterns = [plan.copier, plan.filter, plan.splitter, plan.sharder, plan.merger]
    nodes = [plan.queue, *patterns]
    for node in [plan.queue, *plan.chance.choices(nodes, k=6)]:
        node()
    plan.carrier()
    while unread := [each for each in plan.streams if not each.is_done]:
        plan.streams.remove(unread[0])
        plan.finish_queue(unread[0].stream, unread[0].rounds, ("",))
    return plan
