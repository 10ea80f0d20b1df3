"""A Job of the very name is there already, though no listing showed it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path

from support.localrun import Managed, jobs, managed, queue_files
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import QueueStatus
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Change, Listed, QueueFiles

WORK = 'echo "$(cat "$WORK_ITEM_FILE")" >> {out}'


class Stale(LocalStore):
    """Its first listing is of before any Job was made. `deleting`: those on their way out."""

    deleting: frozenset[str] = frozenset()

    async def changes(self) -> AsyncIterator[Change]:
        async for change in super().changes():
            yield Listed(()) if isinstance(change, Listed) else change

    async def get(self, queue: str, job: str) -> Job | None:
        found = await super().get(queue, job)
        return replace(found, deleting=job in self.deleting) if found else None


def left_behind(folder: Path, files: QueueFiles, name: str) -> Path:
    """The Job of an item of which nothing is recorded; its folder."""
    before = {path.name for path in folder.glob("jobs/*")}

    async def scenario() -> None:
        async with running({"work": files}, folder, [name]) as manager:
            await manager.until(lambda status: (folder / "ledger").exists())

    asyncio.run(scenario())
    for segment in (folder / "ledger" / "work").iterdir():
        segment.unlink()
    (folder / "ledger" / "work").rmdir()
    (folder / "ledger").rmdir()
    (made,) = [path for path in folder.glob("jobs/*") if path.name not in before]
    (made / "done").unlink(missing_ok=True)
    return made


def running(
    files: Mapping[str, QueueFiles] | LocalStore, folder: Path, names: list[str]
) -> AbstractAsyncContextManager[Managed]:
    workflow = Workflow("taken")
    workflow.queue("work", workflow.source("names"))
    return managed(workflow, folder, files, {"names": names})


async def until_done(store: Stale, folder: Path, names: list[str], done: int) -> QueueStatus:
    async with running(store, folder, names) as manager:
        await manager.until_done(done)
        await asyncio.sleep(0.5)
        return manager.status().queues[0]


def test_it_is_the_item_s_own_and_is_taken_for_started(tmp_path: Path) -> None:
    files = queue_files("work", WORK.format(out=tmp_path / "out"))
    left_behind(tmp_path, files, "x")
    asyncio.run(until_done(Stale(tmp_path, {"work": files}), tmp_path, ["x"], 1))
    assert [job["attempt"] for job in jobs(tmp_path)] == [1]
    assert (tmp_path / "out").read_text().split() == ['"x"']


def test_it_is_being_deleted_so_the_next_attempt_follows(tmp_path: Path) -> None:
    files = queue_files("work", WORK.format(out=tmp_path / "out"))
    going = left_behind(tmp_path, files, "x")
    store = Stale(tmp_path, {"work": files})
    store.deleting = frozenset([going.name])
    asyncio.run(until_done(store, tmp_path, ["x"], 1))
    assert sorted((job["attempt"], job["failures"]) for job in jobs(tmp_path)) == [(1, 0), (2, 0)]


def test_it_is_another_item_s_so_that_is_said_and_nothing_touched(tmp_path: Path) -> None:
    files = queue_files("work", WORK.format(out=tmp_path / "out"))
    taken = left_behind(tmp_path, files, "x") / "job.json"
    saved = json.loads(taken.read_text())
    annotations = saved["job"]["metadata"]["annotations"]
    annotations["wqc/item"] = annotations["wqc/item"].replace('"x"', '"stranger"')
    taken.write_text(json.dumps(saved))
    before = {path: path.read_bytes() for path in taken.parent.rglob("*") if path.is_file()}
    status = asyncio.run(until_done(Stale(tmp_path, {"work": files}), tmp_path, ["x", "y"], 1))
    assert status.blocked == f"x: the Job {taken.parent.name} is of another item, stranger"
    assert status.blocked_by == "name"
    assert {path: path.read_bytes() for path in taken.parent.rglob("*") if path.is_file()} == before
    assert (tmp_path / "out").read_text().split() == ['"x"', '"y"']
