"""What is written when an item is finished, and in which order: the next holder always exists first."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from support.localrun import managed, queue_files
from support.sources import Holding
from wqc.runtime.graph.workflow import Ack, Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Kind, QueueFiles, Refused, Segment

NAMES = ("a", "b", "c")


class Noting(LocalStore):
    """Notes what it has written, once it has."""

    def __init__(self, folder: Path, files: dict[str, QueueFiles], written: list[tuple[str, str]]) -> None:
        super().__init__(folder, files)
        self._written = written

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        made = await super().create(queue, manifest, data)
        self._written.append(("started", f"{queue} {made.name}"))
        return made

    async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
        await super().add_segment(queue, segment, kind)
        if kind == "ledger":
            self._written.append(("recorded", queue))

    async def finish(self, job: Job, ttl: float) -> None:
        await super().finish(job, ttl)
        self._written.append(("finished", f"{job.queue} {job.name}"))


class Told(Holding):
    def __init__(self, data: dict[str, Any], written: list[tuple[str, str]]) -> None:
        super().__init__(data)
        self._written = written

    async def done(self, name: str) -> None:
        self._written.append(("acknowledged", name))
        await super().done(name)


class Full(LocalStore):
    """Takes no Jobs as long as it is `full`."""

    full = True

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        if self.full:
            raise Refused("exceeded quota")
        return await super().create(queue, manifest, data)


def run(folder: Path, workflow: Workflow, files: dict[str, QueueFiles], ends: int) -> list[tuple[str, str]]:
    """What was written, in order, until the source was told of all and so many Jobs are finished."""
    written: list[tuple[str, str]] = []
    source = Told(dict.fromkeys(NAMES, 1), written)

    async def scenario() -> None:
        def holds(status: Status) -> bool:
            return not source.data and sum(what == "finished" for what, _ in written) >= ends

        async with managed(workflow, folder, Noting(folder, files, written), {"names": source}) as manager:
            await manager.until(holds)

    asyncio.run(scenario())
    return written


@pytest.mark.parametrize(("script", "read"), [("true", "done"), ("exit 1", "failed")])
@pytest.mark.parametrize("ack", ["on_start", "on_done"])
def test_the_next_holder_comes_first_then_the_record_then_the_end(
    tmp_path: Path, script: str, read: str, ack: Ack
) -> None:
    workflow = Workflow("order")
    first = workflow.queue("first", workflow.source("names", ack=ack))
    workflow.queue("second", first.failed if read == "failed" else first)
    files = {"first": queue_files("first", script, retries=0), "second": queue_files("second", "true")}
    written = run(tmp_path, workflow, files, 2 * len(NAMES))
    records = [place for place, each in enumerate(written) if each == ("recorded", "first")]
    for name in NAMES:
        started = written.index(("started", f"first {name}"))
        handed_on = written.index(("started", f"second {name}"))
        finished = written.index(("finished", f"first {name}"))
        acknowledged = written.index(("acknowledged", name))
        recorded = next(place for place in records if place > handed_on)
        assert started < handed_on < recorded < finished
        assert acknowledged > (started if ack == "on_start" else recorded)


def test_what_fails_in_a_node_is_held_before_its_source_is_told(tmp_path: Path) -> None:
    workflow = Workflow("order")
    workflow.queue("work", workflow.filter("large", workflow.source("names"), where="item.data.size > 1"))
    written = run(tmp_path, workflow, {"work": queue_files("work", "true")}, 0)
    for name in NAMES:
        assert written.index(("started", f"large {name}")) < written.index(("acknowledged", name))


@pytest.mark.parametrize("where", ["item.data == 1", "item.data.size > 1"])
def test_no_source_is_told_while_no_job_can_be_made(tmp_path: Path, where: str) -> None:
    """Neither of what a queue gets nor of what fails in a node."""
    workflow = Workflow("order")
    workflow.queue("work", workflow.filter("large", workflow.source("names"), where=where))

    async def scenario() -> None:
        source = Holding(dict.fromkeys(NAMES, 1))
        store = Full(tmp_path, {"work": queue_files("work", "true")})
        async with managed(workflow, tmp_path, store, {"names": source}) as manager:
            await asyncio.sleep(1.5)  # many rounds
            assert sorted(source.data) == sorted(NAMES)
            store.full = False
            await manager.until(lambda status: not source.data)

    asyncio.run(scenario())
