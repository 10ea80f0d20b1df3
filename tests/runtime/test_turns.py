"""Every input of a merger makes progress, however much another one brings."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from support.localrun import managed, queue_files, until_idle
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.queue.fetching import SOON
from wqc.runtime.sources.patient import patient


def test_a_long_input_does_not_keep_a_short_one_waiting(tmp_path: Path) -> None:
    workflow = Workflow("turns")
    inputs = {"long": workflow.source("long"), "short": workflow.source("short")}
    workflow.queue("work", workflow.merger("all", inputs))
    out = tmp_path / "out"
    files = {"work": queue_files("work", f'cat "$WORK_ITEM_DIR/from" >> {out}; echo >> {out}', at_once=1)}
    sources = {
        name: {f"item {number}": {"from": name} for number in range(count)}
        for name, count in (("long", 30), ("short", 3))
    }
    asyncio.run(until_idle(workflow, tmp_path, files, sources))
    order = out.read_text().split()
    assert len(order) == 33
    last = max(place for place, name in enumerate(order) if name == "short")
    assert last < 10, order


class Hanging(Shared):
    async def get(self, name: str) -> str:
        await asyncio.sleep(3600)
        raise AssertionError


class Accepting:
    def __init__(self) -> None:
        self.published: list[str] = []

    async def publish(self, name: str, version: str, text: str) -> None:
        self.published.append(name)

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("end", ["queue", "carrier"])
def test_an_input_whose_items_hang_does_not_keep_another_waiting(tmp_path: Path, end: str) -> None:
    """Its listing is well, and each of its items is waited for as long as a source may take."""

    async def scenario() -> None:
        workflow = Workflow("turns")
        inputs = {"bad": workflow.source("bad"), "good": workflow.source("good")}
        both = workflow.merger("both", inputs)
        carrier = Accepting()
        if end == "queue":
            workflow.queue("work", both)
        else:
            workflow.carrier("work", both)
        files = {"work": queue_files("work", "true", at_once=4)} if end == "queue" else {}
        names = {f"{number}": 0 for number in range(50)}
        sources = {"bad": patient(Hanging(names), 10.0), "good": Shared(names)}
        carriers = {"work": carrier} if end == "carrier" else {}
        async with managed(workflow, tmp_path, files, sources, carriers=carriers) as manager:
            # of ten seconds that a batch would take with one of these in it
            if end == "queue":
                await manager.until_done(50, seconds=9)
            else:
                await manager.until(lambda status: len(carrier.published) == 50, seconds=9)

    asyncio.run(scenario())


class OneHangs(Shared):
    async def get(self, name: str) -> str:
        if name == "0":
            await asyncio.sleep(3600)
        return await super().get(name)


def test_an_item_that_hangs_does_not_keep_those_behind_it_waiting(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("turns")
        workflow.queue("work", workflow.source("names"))
        files = {"work": queue_files("work", "true", at_once=2)}
        source = OneHangs({f"{number}": 0 for number in range(20)})
        async with managed(workflow, tmp_path, files, {"names": patient(source, 10.0)}) as manager:
            await manager.until_done(19, seconds=9)

    asyncio.run(scenario())


class HangsLater(Shared):
    """Gives an item's data once, by which it is known that a node fails it."""

    given = False

    async def get(self, name: str) -> str:
        if name == "0" and self.given:
            await asyncio.sleep(3600)
        self.given = self.given or name == "0"
        return await super().get(name)


def test_an_item_that_hangs_does_not_keep_others_from_being_held(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("turns")
        workflow.queue("work", workflow.filter("some", workflow.source("names"), "item.data > 0"))
        files = {"work": queue_files("work", "true")}
        source = HangsLater({f"{number}": "no number" for number in range(20)})
        async with managed(workflow, tmp_path, files, {"names": patient(source, 10.0)}) as manager:
            await manager.until(lambda status: status.nodes and status.nodes[-1].failed == 19, 9)

    asyncio.run(scenario())


def test_what_is_slow_is_not_asked_for_twice(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    class Slow(Shared):
        async def get(self, name: str) -> str:
            asked[name] += 1
            await asyncio.sleep(1.5 * SOON)
            return await super().get(name)

    workflow = Workflow("slow")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "true", at_once=8)}
    names = {f"{number}": 0 for number in range(20)}
    status = asyncio.run(until_idle(workflow, tmp_path, files, {"names": Slow(names)}))
    assert status.queues[0].done == 20
    assert asked == Counter(names.keys())
