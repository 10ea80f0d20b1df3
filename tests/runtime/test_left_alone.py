"""A server that says when to come again is left alone until then, whatever else happens (promise 5)."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.localrun import managed, queue_files
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Gone, Refused

LARGE = "x" * 100_000
LATER = Refused("too many requests", 60.0)


class NoData(LocalStore):
    """Gives no large item's data."""

    asked = 0

    async def data(self, job: Job) -> str:
        self.asked += 1
        raise LATER


class HalfMade(LocalStore):
    """The Job of a large item is made without its data, which it never gets."""

    asked = 0

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        job = await super().create(queue, manifest, data)
        return replace(job, content="absent") if job.content == "apart" else job

    async def complete(self, job: Job, data: str) -> Job:
        self.asked += 1
        raise LATER


class HoldsOne(LocalStore):
    """Makes one Job that holds an item."""

    asked = 0

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        if queue == "some":
            self.asked += 1
            if self.asked > 1:
                raise LATER
        return await super().create(queue, manifest, data)


async def until_others_are_done(folder: Path, store: LocalStore) -> None:
    workflow = Workflow("busy")
    workflow.queue("work", workflow.source("names"))
    source = Shared({"large": LARGE} | {f"small {number}": number for number in range(20)})
    async with managed(workflow, folder, store, {"names": source}) as manager:
        await manager.until_done(20)


def test_the_data_of_a_finished_job(tmp_path: Path) -> None:
    store = NoData(tmp_path, {"work": queue_files("work", "sleep 0.1", at_once=2)})
    asyncio.run(until_others_are_done(tmp_path, store))
    assert store.asked == 1


def test_a_job_that_lacks_its_data(tmp_path: Path) -> None:
    script = 'if grep -q xxx "$WORK_ITEM_FILE"; then sleep 60; fi'
    store = HalfMade(tmp_path, {"work": queue_files("work", script, at_once=2)})
    asyncio.run(until_others_are_done(tmp_path, store))
    assert store.asked == 1


def test_what_was_held_by_a_job_that_is_deleted(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("busy")
        workflow.queue("work", workflow.filter("some", workflow.source("names"), "item.data > 0"))
        store = HoldsOne(tmp_path, {"work": queue_files("work", "true")})
        source = Shared({"bad": "no number"})
        async with managed(workflow, tmp_path, store, {"names": source}) as manager:
            await manager.until(lambda status: status.nodes and status.nodes[-1].failed == 1)
            (job,) = (tmp_path / "jobs").iterdir()
            shutil.rmtree(job)
            store._changes.put_nowait(Gone(job.name))
            await manager.until(lambda status: store.asked == 2)
            for number in range(5):  # each has the holder look again
                source.data[f"bad {number}"] = "no number"
                await asyncio.sleep(0.2)
        assert store.asked == 2

    asyncio.run(scenario())


class NotOf(LocalStore):
    """Never gives the data of one item."""

    async def data(self, job: Job) -> str:
        if job.name == "large 0":
            raise Refused("no")
        return await super().data(job)


def test_what_is_refused_of_one_item_keeps_no_other_waiting(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("busy")
        workflow.queue("second", workflow.queue("first", workflow.source("names")))
        store = NotOf(tmp_path, {each: queue_files(each, "true", at_once=2) for each in ("first", "second")})
        source = Shared({f"large {number}": LARGE for number in range(4)})
        async with managed(workflow, tmp_path, store, {"names": source}) as manager:
            await manager.until(lambda status: status.queues and status.queues[1].done == 3)
            assert "no" in manager.status().queues[0].blocked

    asyncio.run(scenario())
