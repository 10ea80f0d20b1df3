"""What can't start: no attempt is counted, one at a time finds out with growing pauses whether it can now."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from support.localrun import QUICK, jobs, managed, queue_files
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.queue.custody import DATA_DELETED
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Change, Changed

WHY = "container worker: StartError: no sh in $PATH"


class NoShell(LocalStore):
    """As on a node whose image lacks the program, as long as it is `ill`."""

    ill = True

    async def changes(self) -> AsyncIterator[Change]:
        async for change in super().changes():
            yield Changed(self._told(change.job)) if isinstance(change, Changed) else change

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        return self._told(await super().create(queue, manifest, data))

    def _told(self, job: Job) -> Job:
        if not self.ill:
            return job
        if job.phase == "active":
            return replace(job, running=False)
        reason = f"it never ran: {WHY}"
        return replace(job, phase="lost", hindrance=WHY, hindered_by="program", exit_code=None, reason=reason)


def says_why(status: Status) -> bool:
    found = [queue for queue in status.queues if WHY in queue.blocked]
    assert all(queue.blocked_by == "program" for queue in found)
    return bool(found)


async def until_tried(folder: Path, at_once: int, times: int, then: Callable[[Status], None]) -> None:
    """Until so many Jobs were made, while status says why; then it is mended, and everything gets done."""
    workflow = Workflow("blocked")
    workflow.queue("work", workflow.source("names"))
    store = NoShell(folder, {"work": queue_files("work", "sleep 0.1", retries=0, at_once=at_once)})
    names = [f"item {number}" for number in range(9)]
    periods = replace(QUICK, backoff=0.15, backoff_limit=60.0)

    def tried(status: Status) -> bool:
        made = len(jobs(folder))
        assert made >= times or says_why(status)
        return made >= times

    async with managed(workflow, folder, store, {"names": names}, periods) as manager:
        await manager.until(says_why, 60)
        then(await manager.until(tried, 60))
        store.ill = False
        status = await manager.until_done(9, seconds=60)
        assert status.queues[0].blocked == ""
    assert {job["failures"] for job in jobs(folder)} == {0}


def pauses_between(folder: Path) -> list[float]:
    """Seconds between the beginnings of two Jobs."""
    texts = [path.read_text() for path in folder.glob("jobs/*/job.json")]
    begun = sorted(json.loads(text)["created"] for text in texts)
    return [later - earlier for earlier, later in pairwise(begun)]


def test_one_finds_out_with_growing_pauses(tmp_path: Path) -> None:
    def then(status: Status) -> None:
        assert len({job["name"] for job in jobs(tmp_path)}) == 1
        pauses = pauses_between(tmp_path)
        assert all(pause >= 0.15 * 2**number for number, pause in enumerate(pauses)), pauses

    asyncio.run(until_tried(tmp_path, at_once=1, times=4, then=then))


def test_what_is_in_the_way_of_one_is_in_the_way_of_all(tmp_path: Path) -> None:
    """Those that were started together before it was known are tried again, and no others."""

    def then(status: Status) -> None:
        assert len({job["name"] for job in jobs(tmp_path)}) <= 3
        assert status.queues[0].running <= 1
        first, second, *others = pauses_between(tmp_path)[2:]
        assert first >= 0.15
        assert min(second, *others) >= 0.3

    asyncio.run(until_tried(tmp_path, at_once=3, times=9, then=then))


class NoNode(NoShell):
    """None takes the pod of `a`, as long as it is `ill`."""

    def _told(self, job: Job) -> Job:
        if self.ill and job.phase == "active" and job.name == "a":
            return replace(job, running=False, hindrance=WHY, hindered_by="program")
        return job


def test_what_can_t_be_tried_again_is_in_no_other_item_s_way(tmp_path: Path) -> None:
    """A stuck Job is deleted by hand, and with it the data of its item, which is large. The next manager
    begins that anew.
    """

    async def scenario() -> None:
        workflow = Workflow("blocked")
        workflow.queue("work", workflow.source("names"))
        items = {"a": "x" * 100_000, "b": 1, "c": 2}
        go = tmp_path / "go"
        files = {"work": queue_files("work", f"until test -e {go}; do sleep 0.05; done", at_once=1)}
        store = NoNode(tmp_path, files)
        async with managed(workflow, tmp_path, store, {"names": items}) as manager:
            await manager.until(says_why)
            (stuck,) = tmp_path.glob("jobs/*")
            stuck.rename(tmp_path / "deleted")  # in one step: its process's id may just be written there
            store.ill = False
            go.touch()
            status = await manager.until_done(2)
            assert DATA_DELETED in status.queues[0].blocked
        async with managed(workflow, tmp_path, files, {"names": items}) as manager:
            await manager.until_done(3)

    asyncio.run(scenario())
