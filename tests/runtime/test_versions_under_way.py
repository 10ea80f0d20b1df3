"""A version of an item that is listed while the one before it is still on its way."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.localrun import QUICK, Managed, managed, queue_files, recorded
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.sources.source import Listing, NoSuchItem
from wqc.runtime.stores.local.store import LocalStore


class Versioned:
    """`versions` by name, as a test changes them; each item's data is its version."""

    def __init__(self, **versions: str) -> None:
        self.versions = versions
        self.wants_done = False

    async def list(self) -> Listing:
        return Listing(self.versions.copy(), wants_done=self.wants_done)

    async def get(self, name: str) -> str:
        if name not in self.versions:
            raise NoSuchItem(f"there is no {name}")
        return json.dumps(self.versions[name])

    async def close(self) -> None:
        pass


class Holding(Versioned):
    """An item goes when it is said to be done."""

    def __init__(self, **versions: str) -> None:
        super().__init__(**versions)
        self.wants_done = True
        self.told: list[str | None] = []

    async def done(self, name: str) -> None:
        self.told.append(self.versions.pop(name, None))


class Slow(LocalStore):
    """Its first Job is made once the gate is open."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.creating, self.gate = asyncio.Event(), asyncio.Event()

    async def create(self, *given: Any, **more: Any) -> Any:
        self.creating.set()
        await self.gate.wait()
        return await super().create(*given, **more)


@asynccontextmanager
async def second_follows_first(folder: Path, source: Versioned) -> AsyncIterator[Managed]:
    """The Job of version 1 is being made when version 2 comes, which then waits: the queue is paused."""
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "true", rework="on_change", at_once=1)}
    store = Slow(folder, files)
    async with managed(workflow, folder, store, {"names": source}) as manager:
        await store.creating.wait()
        source.versions["a"] = "2"
        await manager.until(lambda status: status.queues[0].waiting == 1)
        await manager.state.write({"paused.work": ""})
        await manager.until(lambda status: "paused" in status.queues[0].blocked)
        store.gate.set()
        await manager.until(lambda status: status.queues[0].done == 1)
        yield manager


def test_a_source_that_keeps_items_is_not_told_of_the_second(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding(a="1")
        async with second_follows_first(tmp_path, source) as manager:
            await asyncio.sleep(5 * QUICK.listing)
            assert source.told == []
            await manager.state.write({"paused.work": None})
            await manager.until(lambda status: source.told == ["2"])
            await manager.until(lambda status: len(recorded(tmp_path, "work")) == 2)

    asyncio.run(scenario())


def test_a_second_that_goes_before_it_is_begun_is_waited_for_no_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Versioned(a="1")
        async with second_follows_first(tmp_path, source) as manager:
            del source.versions["a"]
            await manager.until(lambda status: status.queues[0].waiting == 0)
            await manager.state.write({"paused.work": None})
            await manager.until(lambda status: status.idle and not status.queues[0].blocked)

    asyncio.run(scenario())


def test_a_first_that_nobody_gets_says_nothing_of_the_second(tmp_path: Path) -> None:
    """That it was dropped is recorded, and told, when the second one is listed."""
    flush = 1.0

    async def scenario() -> None:
        workflow = Workflow("dropped")
        workflow.queue("work", workflow.filter("second", workflow.source("names"), where='item.data == "2"'))
        files = {"work": queue_files("work", "true", rework="on_change")}
        source = Holding(a="1")
        periods = replace(QUICK, flush=flush)
        async with managed(workflow, tmp_path, files, {"names": source}, periods) as manager:
            await manager.state.write({"paused.work": ""})
            await asyncio.sleep(flush / 3)
            source.versions["a"] = "2"
            await manager.until(lambda status: status.queues[0].waiting == 1)
            await asyncio.sleep(flush + 5 * QUICK.listing)
            assert source.told == []
            await manager.state.write({"paused.work": None})
            await manager.until(lambda status: source.told == ["2"])
            await manager.until_done(1)

    asyncio.run(scenario())
