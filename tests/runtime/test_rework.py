"""Whether an item that has changed is worked on again: `rework`."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from support.localrun import QUICK, jobs, managed, queue_files, until_idle
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.sources.source import Listing
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.state import State
from wqc.runtime.stores.store import Gone, Kind, Listed, QueueFiles, Refused, Segment


class Versioned(Shared):
    version = "1"

    async def list(self) -> Listing:
        return Listing(dict.fromkeys(self.data, self.version))


async def let_go(state: Path, files: Mapping[str, QueueFiles]) -> None:
    """Until the finished Jobs are gone."""
    store = LocalStore(state, files)
    async with asyncio.timeout(30):
        async for change in store.changes():
            if not jobs(state):
                break
            assert isinstance(change, Listed | Gone)
    await store.close()


def damaged(state: Path, queue: str) -> Callable[[], object]:
    """Its record can't be read until what is returned is called."""
    segment = next((state / "ledger" / queue).iterdir())
    content = segment.read_bytes()
    segment.write_bytes(b"rubbish")
    return lambda: segment.write_bytes(content)


@pytest.mark.parametrize("keep", [0, 3600])
@pytest.mark.parametrize(("rework", "times"), [("never", 1), ("on_change", 2)])
def test_a_new_version_is_a_new_item_only_where_it_is_said(
    tmp_path: Path, rework: str, times: int, keep: int
) -> None:
    """Whether the finished Job is still there, or the record alone says what is done."""
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    out = tmp_path / "out"
    files = {"work": queue_files("work", f"echo x >> {out}", rework=rework, keep=keep)}
    source = Versioned({"a": 1})

    for version in ("1", "1", "2"):
        source.version = version
        asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
        if not keep:
            asyncio.run(let_go(tmp_path, files))
    assert out.read_text().count("x") == times


@pytest.mark.parametrize("keep", [0, 3600])
@pytest.mark.parametrize(("before", "after"), [("never", "on_change"), ("on_change", "never")])
def test_what_is_done_stays_done_when_rework_changes(
    tmp_path: Path, before: str, after: str, keep: int
) -> None:
    """Also after a merger and behind another queue, and what failed is counted as failed. From then on a new
    version is a new item, or isn't; an item that is new is one either way.
    """
    out = tmp_path / "out"
    names = {f"item {number}": number for number in range(10)}
    here, there = Versioned(names | {"bad": "bad"}), Versioned({"z": 0})

    def run(rework: str) -> tuple[Counter[str], dict[str, tuple[int, int]]]:
        out.write_text("")
        workflow = Workflow("versions")
        merged = workflow.merger("all", {"x": workflow.source("here"), "y": workflow.source("there")})
        done = workflow.queue("first", merged)
        workflow.queue("second", done)
        workflow.queue("losses", done.failed)
        scripts = {
            "first": f'echo first >> {out}; if grep -q bad "$WORK_ITEM_FILE"; then exit 1; fi',
            "second": f"echo second >> {out}",
            "losses": f"echo losses >> {out}",
        }
        files = {
            queue: queue_files(queue, script, rework=rework, keep=keep, retries=0)
            for queue, script in scripts.items()
        }
        status = asyncio.run(until_idle(workflow, tmp_path, files, {"here": here, "there": there}))
        if not keep:
            asyncio.run(let_go(tmp_path, files))
        counts = {queue.queue: (queue.done, queue.failed) for queue in status.queues}
        return Counter(out.read_text().split()), counts

    everything = {"first": (11, 1), "second": (11, 0), "losses": (1, 0)}
    assert run(before) == (Counter(first=12, second=11, losses=1), everything)
    for _ in range(2):
        assert run(after) == (Counter(), everything)
    here.data |= {"new": 0}
    here.version = "2"
    worked, _ = run(after)
    again = Counter(first=12, second=11, losses=1)
    assert worked == (again if after == "on_change" else Counter(first=1, second=1))


@pytest.mark.parametrize("keep", [0, 3600])
def test_a_version_that_was_passed_over_stays_so_when_rework_changes(tmp_path: Path, keep: int) -> None:
    """Whether the Job of the version before is still there or not."""
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    out = tmp_path / "out"
    source = Versioned({"a": 1, "b": 2})
    for version, rework, times in (
        ("1", "never", 2),
        ("2", "never", 2),
        ("2", "on_change", 2),
        ("2", "on_change", 2),
        ("3", "on_change", 4),
    ):
        source.version = version
        files = {"work": queue_files("work", f"echo x >> {out}", rework=rework, keep=keep)}
        asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
        if not keep:
            asyncio.run(let_go(tmp_path, files))
        assert out.read_text().count("x") == times, (version, rework)


def test_a_queue_that_is_renamed_and_has_another_rework(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = Versioned({"a": 1, "b": 2})
    for name, more in (("old", {"rework": "on_change"}), ("new", {"rework": "never", "formerly": "old"})):
        workflow = Workflow("versions")
        workflow.queue(name, workflow.source("names"))
        files = {name: queue_files(name, f"echo x >> {out}", keep=0, **more)}
        asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
        asyncio.run(let_go(tmp_path, files))
    assert out.read_text().count("x") == 2


def test_a_share_that_is_away_when_rework_changes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = Versioned({"a": 1})
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    for rework, items in (("never", {"a": 1}), ("on_change", {}), ("on_change", {"a": 1})):
        source.data = items
        files = {"work": queue_files("work", f"echo x >> {out}", rework=rework, keep=0)}
        asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
        asyncio.run(let_go(tmp_path, files))
    assert out.read_text().count("x") == 1


class Refusing(LocalStateStore):
    async def write(self, changes: Mapping[str, str | None], version: str | None = None) -> State:
        raise Refused("the disk is full")


def test_what_the_record_goes_by_need_not_be_written_for_work_to_go_on(tmp_path: Path) -> None:
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "true")}

    async def run() -> None:
        state = Refusing(tmp_path)
        async with managed(workflow, tmp_path, files, {"names": ["a"]}, state=state) as manager:
            await manager.until_done(1)

    asyncio.run(run())


def test_jobs_of_two_versions_that_are_one_item_now(tmp_path: Path) -> None:
    """The one is done; the other runs, is recorded, and both go away."""
    out, go = tmp_path / "out", tmp_path / "go"
    script = f"""
        if grep -q slow "$WORK_ITEM_FILE"; then until test -e {go}; do sleep 0.05; done; fi
        cat "$WORK_ITEM_FILE" >> {out}; echo >> {out}"""
    source = Versioned({"a": "quick"})
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))

    async def scenario() -> None:
        def files(rework: str, keep: int) -> dict[str, QueueFiles]:
            return {"work": queue_files("work", script, rework=rework, keep=keep)}

        async with managed(workflow, tmp_path, files("on_change", 3), {"names": source}) as manager:
            await manager.settled(lambda status: status.queues[0].done == 1)
            source.data, source.version = {"a": "slow"}, "2"
            await manager.until(lambda status: status.queues and status.queues[0].running == 1)
        async with managed(workflow, tmp_path, files("never", 0), {"names": source}) as manager:
            await manager.until(lambda status: status.queues and status.queues[0].running == 1)
            await manager.until(lambda status: "1" not in {job["version"] for job in jobs(tmp_path)})
            assert manager.status().queues[0].running == 1
            go.touch()
            await manager.until(lambda status: not jobs(tmp_path))
            await manager.settled()

    asyncio.run(scenario())
    assert out.read_text().split() == ['"quick"', '"slow"']


def test_a_record_that_can_not_be_read_when_rework_changes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = Versioned({"a": 1, "b": 2})
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", f"echo x >> {out}", keep=0)}
    asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
    asyncio.run(let_go(tmp_path, files))

    async def scenario() -> None:
        files = {"work": queue_files("work", f"echo x >> {out}", rework="on_change", keep=0)}
        mend = damaged(tmp_path, "work")
        periods = replace(QUICK, backoff_limit=0.2)
        async with managed(workflow, tmp_path, files, {"names": source}, periods) as manager:
            await manager.until(lambda status: status.queues and status.queues[0].blocked)
            await asyncio.sleep(0.5)
            mend()
            await manager.settled()
            await asyncio.sleep(0.5)

    asyncio.run(scenario())
    assert out.read_text().count("x") == 2


def test_that_record_keeps_no_other_queue_of_its_source_waiting(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = Versioned({"a": 1})
    workflow = Workflow("versions")
    both = workflow.copier("both", workflow.source("names"))
    workflow.queue("good", both)
    workflow.queue("bad", both)
    good = queue_files("good", "true", keep=0)
    files = {"good": good, "bad": queue_files("bad", f"echo x >> {out}", keep=0)}
    asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
    asyncio.run(let_go(tmp_path, files))

    async def scenario() -> None:
        files = {"good": good, "bad": queue_files("bad", f"echo x >> {out}", rework="on_change", keep=0)}
        mend = damaged(tmp_path, "bad")
        source.data["b"] = 2
        async with managed(workflow, tmp_path, files, {"names": source}) as manager:
            await manager.until(lambda status: status.queues and status.queues[0].done == 2)
            mend()
            await manager.settled()
            assert manager.status().queues[1].done == 2

    asyncio.run(scenario())
    assert out.read_text().count("x") == 2


class Slow(LocalStore):
    """Takes no segment for a while."""

    ready = False
    asked = 0

    async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
        if not self.ready:
            self.asked += 1
            raise Refused("it is busy")
        await super().add_segment(queue, segment, kind)


def test_its_source_is_listed_again_and_again_while_the_record_is_made_anew(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = Versioned({"a": 1})
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", f"echo x >> {out}", keep=0)}
    asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
    asyncio.run(let_go(tmp_path, files))

    async def scenario() -> None:
        mend = damaged(tmp_path, "work")
        store = Slow(tmp_path, {"work": queue_files("work", f"echo x >> {out}", rework="on_change", keep=0)})
        async with managed(workflow, tmp_path, store, {"names": source}) as manager:
            await manager.until(lambda status: status.queues and "can't be read" in status.queues[0].blocked)
            await asyncio.sleep(3 * QUICK.listing)
            mend()
            await manager.until(lambda status: store.asked > 0)
            await asyncio.sleep(3 * QUICK.listing)
            store.ready = True
            source.data["b"] = 2
            await manager.until(lambda status: out.read_text().count("x") == 2)
            await manager.settled(lambda status: status.queues[0].done == 2)

    asyncio.run(scenario())
    assert out.read_text().count("x") == 2


def test_an_item_whose_job_is_deleted_before_it_is_recorded_is_not_begun_anew(tmp_path: Path) -> None:
    """Its next version comes while only the manager knows that it is done."""
    out = tmp_path / "out"

    async def scenario() -> None:
        workflow = Workflow("versions")
        workflow.queue("work", workflow.source("names"))
        files = {"work": queue_files("work", f"echo x >> {out}")}
        source = Versioned({"a": 1})
        async with managed(
            workflow, tmp_path, files, {"names": source}, replace(QUICK, flush=2.0)
        ) as manager:
            await manager.until_done(1)
            (job,) = (tmp_path / "jobs").iterdir()
            job.rename(tmp_path / "deleted")
            manager.store._changes.put_nowait(Gone(job.name))
            source.version = "2"
            await manager.settled(lambda status: (tmp_path / "ledger" / "work").exists())

    asyncio.run(scenario())
    assert out.read_text().count("x") == 1
