"""What the store never does keeps nothing else from being recorded."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.localrun import ask, managed, queue_files, recorded, until_idle
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Refused


class NoData(LocalStore):
    """Gives no large item's data."""

    async def data(self, job: Job) -> str:
        raise Refused("it can't be read")


class KeepsTemplates(LocalStore):
    async def forget_template(self, queue: str, digest: str) -> None:
        raise Refused("deleting isn't allowed")


@pytest.mark.parametrize("kind", [NoData, KeepsTemplates])
def test_finished_items_are_recorded(tmp_path: Path, kind: type[LocalStore]) -> None:
    workflow = Workflow("refused")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "true")}
    asyncio.run(until_idle(workflow, tmp_path, {"work": queue_files("work", ":")}, {"names": ["first"]}))

    async def scenario() -> None:
        items = {"large": "x" * 100_000} | {f"small {number}": number for number in range(9)}
        async with managed(workflow, tmp_path, kind(tmp_path, files), {"names": items}) as manager:
            await manager.until(lambda status: recorded(tmp_path, "work").total() >= 10)

    asyncio.run(scenario())


class HoldsOne(LocalStore):
    """Its quota is one Job that holds an item."""

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        if queue == "some" and list(self._jobs.glob("*held*")):
            raise Refused("exceeded quota")
        return await super().create(queue, manifest, data)


def test_what_is_discarded_makes_room(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("quota")
        workflow.queue("work", workflow.filter("some", workflow.source("names"), "item.data > 0"))
        store = HoldsOne(tmp_path, {"work": queue_files("work", "true")})
        source = Shared({"bad": "no number", "worse": "no number"})
        async with managed(workflow, tmp_path, store, {"names": source}) as manager:
            await manager.until(lambda status: status.nodes and status.nodes[-1].failed == 1)
            await manager.until(lambda status: status.nodes[-1].blocked == "exceeded quota")
            (failure,) = manager.status().nodes[-1].failures
            await ask(tmp_path, "some", "discard", (failure.item,))
            await manager.until(lambda status: (tmp_path / "ledger" / "some").exists())

    asyncio.run(scenario())


class Picky(LocalStore):
    """Takes no Job with this word in it, as an admission webhook might."""

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        if "odious" in str(manifest):
            raise Refused("denied the request")
        return await super().create(queue, manifest, data)


def test_an_item_that_can_not_be_held_keeps_no_other_from_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("picky")
        workflow.queue("work", workflow.filter("some", workflow.source("names"), "item.data > 0"))
        store = Picky(tmp_path, {"work": queue_files("work", "true")})
        source = Shared({"odious": "no number"} | {f"bad {number}": "no number" for number in range(9)})
        async with managed(workflow, tmp_path, store, {"names": source}) as manager:
            await manager.until(lambda status: status.nodes and status.nodes[-1].failed == 9)
            await manager.until(lambda status: status.nodes[-1].blocked == "denied the request")

    asyncio.run(scenario())


class HalfMade(LocalStore):
    """Large items' Jobs are made without their data, and that of one is refused."""

    completed = 0

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        job = await super().create(queue, manifest, data)
        return replace(job, content="absent") if job.content == "apart" else job

    async def complete(self, job: Job, data: str) -> Job:
        if job.name == "odious":
            raise Refused("denied the request")
        self.completed += 1
        return await super().complete(job, data)


def test_a_job_that_can_not_be_completed_keeps_no_other_from_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("picky")
        workflow.queue("work", workflow.source("names"))
        store = HalfMade(tmp_path, {"work": queue_files("work", "sleep 60", at_once=3)})
        source = Shared(dict.fromkeys(("odious", "a", "b"), "x" * 100_000))
        async with managed(workflow, tmp_path, store, {"names": source}) as manager:
            await manager.until(lambda status: store.completed == 2)

    asyncio.run(scenario())
