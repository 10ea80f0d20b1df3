"""Random workflows over all patterns, and what the pure functions say that each queue and carrier does."""

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from wqc.contract.expression import compile_expression
from wqc.patterns.filter import Filter
from wqc.patterns.item import Item, Pattern, Sent
from wqc.patterns.merger import Merger
from wqc.patterns.sharder import Sharder
from wqc.patterns.splitter import Splitter
from wqc.runtime.graph.streams import Bundle, Stream
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.stores.store import QueueFiles


@dataclass
class Open:
    """A stream that nobody reads yet, and the items that it must carry."""

    stream: Stream
    items: list[Item]
    is_done: bool = False
    """A queue's finished items, which may stay unread."""


@dataclass(frozen=True)
class Work:
    """A queue whose worker fails on items whose id, divided by `modulus`, leaves `rest`.

    The id is the last one in an item's JSON: a reader of `.failed` finds it in the item that failed. With
    `adds` the worker's result is `{"id": …}` with so much more.
    """

    queue: str
    modulus: int
    rest: int
    lanes: tuple[str, ...]
    adds: int | None


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
    expected: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
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
        self.finish_queue(read.stream, read.items, ("",))

    def finish_queue(
        self,
        stream: Stream | Bundle[Stream],
        items: list[Item],
        lanes: tuple[str, ...],
        gives_result: bool | None = None,
    ) -> None:
        name = self.name("queue")
        modulus, rest = self.chance.randint(3, 7), self.chance.randint(0, 2)
        if gives_result is None:
            gives_result = self.chance.random() < 0.5
        adds = self.chance.randint(1, 5) if gives_result else None
        self.files[name] = self.made(Work(name, modulus, rest, lanes, adds))
        done = self.workflow.queue(name, stream)
        good = [item for item in items if number(item.data) % modulus != rest]
        bad = [item for item in items if number(item.data) % modulus == rest]
        self.expected.update(f"{name} {number(item.data)}" for item in good)
        self.failed[name] = self.held[name] = len(bad)
        if adds is not None:
            good = [Item(each.name, each.version, {"id": number(each.data) + adds}) for each in good]
        self.streams.append(Open(done, good, is_done=True))
        if self.chance.random() < 0.4:
            self.held[name] = 0
            # what the reader gets has no id of its own; its result has
            told = [Item(each.name, each.version, {"item": {"data": each.data}}) for each in bad]
            self.finish_queue(done.failed, told, ("",), gives_result=True)

    def carrier(self) -> None:
        read, name = self.pick(), self.name("carrier")
        self.workflow.carrier(name, read.stream)
        self.carriers[name] = Collecting()
        self.carried[name] = Counter(f"{each.name} {number(each.data)}" for each in read.items)

    def copier(self) -> None:
        read = self.pick()
        copied = self.workflow.copier(self.name("copier"), read.stream)
        self.streams += [Open(copied, read.items), Open(copied, read.items)]

    def filter(self) -> None:
        read = self.pick()
        text = f"item.data.id % {self.chance.randint(2, 4)} != 0"
        kept = self.workflow.filter(self.name("filter"), read.stream, where=text)
        self.streams.append(Open(kept, sent(Filter(compile_expression(text)), read.items, "")))

    def splitter(self) -> None:
        read = self.pick()
        cases = {"even": "item.data.id % 2 == 0", "third": "item.data.id % 3 == 0"}
        cut = self.workflow.splitter(self.name("splitter"), read.stream, cases=cases)
        pure = Splitter(tuple((case, compile_expression(text)) for case, text in cases.items()), drop=False)
        self.streams += [Open(cut[case], sent(pure, read.items, case)) for case in cases]
        self.streams.append(Open(cut.otherwise, sent(pure, read.items, "otherwise")))

    def sharder(self) -> None:
        read = self.pick()
        shards = ("a", "b", "c")
        bundle = self.workflow.sharder(self.name("sharder"), read.stream, key="item.data.id", shards=shards)
        pure = Sharder(compile_expression("item.data.id"), shards)
        members = [item for shard in shards for item in sent(pure, read.items, shard)]
        self.finish_queue(bundle, members, shards)

    def merger(self) -> None:
        if len(self.streams) < 2:
            return
        first, second = self.pick(), self.pick()
        merged = self.workflow.merger(self.name("merger"), {"x": first.stream, "y": second.stream})
        items = sent(Merger("x"), first.items, "") + sent(Merger("y"), second.items, "")
        self.streams.append(Open(merged, items))


def number(data: Any) -> int:
    """An item's id, also of one that failed."""
    while "item" in data:
        data = data["item"]["data"]
    return int(data["id"])


def sent(pattern: Pattern, items: list[Item], output: str) -> list[Item]:
    found: list[Item] = []
    for item in items:
        verdict = pattern.route(item)
        assert isinstance(verdict, tuple)
        found += [each.item for each in verdict if isinstance(each, Sent) and each.output == output]
    return found


def planned(seed: int, made: Callable[[Work], QueueFiles], items: list[Item]) -> Plan:
    plan = Plan(random.Random(seed), made)
    plan.streams.append(Open(plan.workflow.source("numbers"), items))
    patterns = [plan.copier, plan.filter, plan.splitter, plan.sharder, plan.merger]
    nodes = [plan.queue, *patterns]
    for node in [plan.queue, *plan.chance.choices(nodes, k=6)]:
        node()
    plan.carrier()
    while unread := [each for each in plan.streams if not each.is_done]:
        plan.streams.remove(unread[0])
        plan.finish_queue(unread[0].stream, unread[0].items, ("",))
    return plan
