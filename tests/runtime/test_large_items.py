"""Items from 64 KiB on: beside their Jobs up to 900 KiB, and failed beyond that (promise 10)."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.localrun import QUICK, ask, jobs, managed, queue_files, until_idle
from support.sources import Holding, Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Change, Changed, Refused

LARGE = {"kind": "large", "text": "x" * 500 * 1024}
HUGE = {"kind": "large", "text": "x" * 1024 * 1024}


def collect(out: Path) -> str:
    out.mkdir()
    return f'wc -c < "$WORK_ITEM_FILE" > "$(mktemp {out}/XXXXXX)"'


def sizes(out: Path) -> Counter[int]:
    return Counter(int(path.read_text()) for path in out.iterdir())


def test_a_large_item_goes_through_queues_conditions_and_retries(tmp_path: Path) -> None:
    workflow = Workflow("large")
    first = workflow.queue("first", workflow.source("names"))
    workflow.queue("second", workflow.filter("some", first, where='item.data.kind == "large"'))
    workflow.queue("lost", first.failed)
    out, seen, told = tmp_path / "out", tmp_path / "seen", tmp_path / "told"
    script = f'n=$(wc -l < {seen}); echo >> {seen}; test "$n" = 1 || exit 1; {collect(out)}'
    seen.touch()
    files = {
        "first": queue_files("first", script, retries=1, at_once=1),
        "second": queue_files("second", collect(tmp_path / "second")),
        "lost": queue_files("lost", collect(told)),
    }
    # the first item's second attempt is good, both of the second item's fail
    source = Holding({"a": LARGE, "b": LARGE})
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": source}))
    size = len(json.dumps(LARGE))
    assert sizes(out) == sizes(tmp_path / "second") == Counter([size])
    (larger,) = sizes(told)
    assert larger > size
    assert [(queue.done, queue.failed) for queue in status.queues] == [(1, 1), (1, 0), (1, 0)]
    assert source.data == {}


def test_what_is_too_large_for_the_next_queue_stays_with_the_first(tmp_path: Path) -> None:
    """The failure that a reader gets is larger than the item that failed."""
    workflow = Workflow("large")
    first = workflow.queue("first", workflow.source("names"))
    workflow.queue("lost", first.failed)
    files = {
        "first": queue_files("first", "exit 1", retries=0),
        "lost": queue_files("lost", collect(tmp_path / "told")),
    }
    full = "x" * (900 * 1024 - 2)
    source = Holding({"a": full, "b": 1})
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": source}))
    assert [(queue.done, queue.failed, queue.handing) for queue in status.queues] == [(0, 1, 1), (1, 1, 0)]
    assert "bytes of JSON; 921600 fit" in status.queues[1].failures[0].reason
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": source}))
    assert [(queue.done, queue.failed, queue.handing) for queue in status.queues] == [(0, 1, 1), (1, 1, 0)]


def test_a_large_item_that_fails_in_a_node_is_held_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"a": LARGE})
        files = {"work": queue_files("work", collect(tmp_path / "out"))}
        for where, done in (("item.data.size > 1", 0), ("has(item.data.text)", 1)):
            workflow = Workflow("large")
            workflow.queue("work", workflow.filter("some", workflow.source("names"), where=where))
            if done:
                await ask(tmp_path / "s", "some", "retry")

            def is_there(status: Status, done: int = done) -> bool:
                return status.idle and (status.queues[0].done, status.nodes[-1].failed) == (done, 1 - done)

            async with managed(workflow, tmp_path / "s", files, {"names": source}) as manager:
                await manager.until(is_there)
            assert source.data == {}
        assert sizes(tmp_path / "out") == Counter([len(json.dumps(LARGE))])

    asyncio.run(scenario())


def test_what_is_too_large_fails_stays_in_its_source_and_is_discarded(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("large")
        workflow.queue("work", workflow.source("names"))
        state = tmp_path / "s"
        files = {"work": queue_files("work", collect(tmp_path / "out"), at_once=1)}
        source = Holding({"huge": HUGE, "small": 1})
        async with managed(workflow, state, files, {"names": source}) as manager:

            async def reach(done: int, failed: int) -> Status:
                return await manager.until(
                    lambda each: [(queue.done, queue.failed) for queue in each.queues] == [(done, failed)]
                )

            status = await reach(1, 1)
            (failure,) = status.queues[0].failures
            size = len(json.dumps(HUGE))
            assert (failure.item, failure.reason) == (
                "huge",
                f"its data is {size} bytes of JSON; {900 * 1024} fit",
            )
            assert status.queues[0].waiting == 0
            # nothing else has it: a retry takes it from there, and it may fit by now
            await manager.until(lambda status: "small" not in source.data)
            assert source.data == {"huge": HUGE}
            await ask(state, "work", "retry")
            await asyncio.sleep(1)
            await reach(1, 1)
            assert {(job["name"], job["round"]) for job in jobs(state)} >= {("huge", 0), ("huge", 1)}
            source.data["huge"] = LARGE
            await ask(state, "work", "retry")
            await reach(2, 0)
            source.data["other"] = HUGE
            await reach(2, 1)
            await ask(state, "work", "discard", ("other",))
            await reach(3, 0)
            await manager.until(lambda status: not source.data)
        assert sizes(tmp_path / "out") == Counter([1, len(json.dumps(LARGE))])

    asyncio.run(scenario())


class HalfMade(LocalStore):
    """The first Job of a large item is made without its data, and that is refused."""

    absent = ""

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        job = await super().create(queue, manifest, data)
        if job.content == "apart" and not self.absent:
            self.absent = job.job
            self._changes.put_nowait(Changed(replace(job, content="absent")))
            raise Refused("the API server is away", 0.5)
        return job


class Counted(Shared):
    """Says once what is large, then not until it is well again."""

    asked = 0
    is_away = True

    async def get(self, name: str) -> str:
        if name == "large":
            self.asked += 1
            if self.is_away and self.asked > 1:
                raise SourceError("the share is away")
        return await super().get(name)


def test_what_a_job_lacks_is_asked_for_with_pauses(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("large")
        workflow.queue("work", workflow.source("names"))
        go = tmp_path / "go"
        script = f'if grep -q large "$WORK_ITEM_FILE"; then until test -e {go}; do sleep 0.05; done; fi'
        store = HalfMade(tmp_path, {"work": queue_files("work", script, at_once=2)})
        source = Counted({"large": LARGE} | {f"small {number}": number for number in range(30)})
        periods = replace(QUICK, backoff=0.5, backoff_limit=0.5)
        began = time.monotonic()
        async with managed(workflow, tmp_path, store, {"names": source}, periods) as manager:
            await manager.until_done(30)
            assert 2 <= source.asked <= 3 + (time.monotonic() - began) / 0.5
            before, source.is_away = source.asked, False
            await manager.until(lambda status: source.asked > before)
            go.touch()
            await manager.until_done(31)

    asyncio.run(scenario())


class NeverWhole(LocalStore):
    """A large item's Job is made, and the manager dies before its data is: its pod waits for that."""

    async def changes(self) -> AsyncIterator[Change]:
        async for change in super().changes():
            if not (isinstance(change, Changed) and change.job.content == "apart"):
                yield change

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        job = await super().create(queue, manifest, data)
        if job.content == "here":
            return job
        why = "FailedMount: configmap not found"
        return replace(job, content="absent", running=False, hindrance=why, hindered_by="volume")

    async def give_up(self, job: Job) -> None:
        self._changes.put_nowait(Changed(replace(job, phase="lost", hindrance="", reason="it never ran")))


def test_a_job_whose_data_is_nowhere_is_in_nobody_s_way(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("large")
        workflow.queue("work", workflow.source("names"))
        store = NeverWhole(tmp_path, {"work": queue_files("work", "true", at_once=1)})
        source = Counted({"large": LARGE, "small": 1})
        async with managed(workflow, tmp_path, store, {"names": source}) as manager:
            await manager.until(lambda status: "FailedMount" in "".join(q.blocked for q in status.queues))
            del source.data["large"]
            await manager.until_done(1)
            await manager.until(lambda status: "nothing lists it any more" in status.queues[0].blocked)

    asyncio.run(scenario())


class Reading(LocalStore):
    read = 0

    async def data(self, job: Job) -> str:
        self.read += 1
        return await super().data(job)


def test_the_data_of_a_held_item_is_not_asked_for_each_time_that_its_job_is_told_of(tmp_path: Path) -> None:
    """An audit tells of all."""

    async def scenario() -> None:
        workflow = Workflow("large")
        workflow.queue("work", workflow.source("names"))
        store = Reading(tmp_path, {"work": queue_files("work", "exit 1", retries=0)})
        async with managed(workflow, tmp_path, store, {"names": {"large": LARGE}}) as manager:
            status = await manager.settled(lambda status: status.queues[0].held == 1)
            (failure,) = status.queues[0].failures
            before = store.read
            for _ in range(3):
                job = await store.get("work", failure.job)
                assert job
                assert job.content == "apart"
                store._changes.put_nowait(Changed(replace(job, phase="failed", running=False)))
                await asyncio.sleep(0.2)
            assert store.read == before

    asyncio.run(scenario())
