"""`ack`: a source that holds its items is told once a Job has them, or once they are recorded."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.localrun import QUICK, Managed, jobs, managed, queue_files, recorded, until_idle
from support.sources import Holding
from wqc.contract.names import item_hash
from wqc.runtime.graph.workflow import Ack, Workflow
from wqc.runtime.sources.source import SourceError


def running(folder: Path, source: Holding, ack: Ack) -> AbstractAsyncContextManager[Managed]:
    """Two queues that both get each item; workers go on once `go/ITEM` is there, and fail if it says so."""
    workflow = Workflow("acknowledged")
    both = workflow.copier("both", workflow.source("names", ack=ack))
    workflow.queue("first", both)
    workflow.queue("second", both)
    (folder / "go").mkdir(exist_ok=True)
    script = f'f={folder}/go/$(tr -d \'"\' < "$WORK_ITEM_FILE"); until [ -e $f ]; do sleep 0.1; done; . $f'
    files = {"first": queue_files("first", script, retries=0), "second": queue_files("second", "true")}
    return managed(workflow, folder, files, {"names": source})


def test_on_start_it_is_told_while_the_work_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"a": "a"})
        async with running(tmp_path, source, "on_start") as manager:
            status = await manager.until(lambda status: not source.data)
            assert status.queues[0].done == 0

    asyncio.run(scenario())


def test_on_done_it_is_told_when_every_queue_has_recorded_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"a": "a", "b": "b"})
        async with running(tmp_path, source, "on_done") as manager:
            await manager.until_done(0, 2)
            await asyncio.sleep(1.0)
            assert sorted(source.data) == ["a", "b"]
            (tmp_path / "go" / "a").write_text("exit 0")
            status = await manager.until(lambda status: sorted(source.data) == ["b"])
            assert [queue.done for queue in status.queues] == [1, 2]

    asyncio.run(scenario())


@pytest.mark.parametrize("end", ["exit 0", "exit 3"])
def test_what_a_second_manager_finds_is_not_repeated_and_told(tmp_path: Path, end: str) -> None:
    """What failed for good is done too: its last Job holds it."""

    async def scenario() -> None:
        source = Holding({"a": "a"})
        async with running(tmp_path, source, "on_done") as manager:
            await manager.until_done(0, 1)
        assert source.data
        (tmp_path / "go" / "a").write_text(end)
        async with running(tmp_path, source, "on_done") as manager:
            status = await manager.until(lambda status: not source.data)
            first = status.queues[0]
            assert (first.done, first.failed) == ((1, 0) if end == "exit 0" else (0, 1))
        # the attempt that was interrupted is lost, and another is the last
        assert sorted(job["attempt"] for job in jobs(tmp_path)) == [1, 1, 2]

    asyncio.run(scenario())


class Watched(Holding):
    """`early`: items of which it is told before they are recorded as dropped."""

    def __init__(self, data: dict[str, Any], state: Path) -> None:
        super().__init__(data)
        self.state = state
        self.early: list[str] = []

    async def done(self, name: str) -> None:
        folder = self.state / "ledger" / DROPPED
        if not folder.is_dir() or item_hash(name, "") not in recorded(self.state, DROPPED):
            self.early.append(name)
        await super().done(name)


DROPPED = "names--dropped"


def rejecting() -> Workflow:
    workflow = Workflow("rejecting")
    cut = workflow.splitter(
        "cut",
        workflow.filter("some", workflow.source("names"), where="item.data > 0"),
        cases={"large": "item.data > 10"},
        otherwise="drop",
    )
    workflow.queue("work", cut["large"])
    return workflow


def test_what_is_rejected_or_dropped_is_told_once_it_is_recorded(tmp_path: Path) -> None:
    source = Watched({"rejected": 0, "dropped": 1, "kept": 11}, tmp_path)
    files = {"work": queue_files("work", "true")}
    status = asyncio.run(until_idle(rejecting(), tmp_path, files, {"names": source}))
    assert (source.data, source.early) == ({}, ["kept"])
    assert [queue.done for queue in status.queues] == [1]
    assert recorded(tmp_path, DROPPED) == {item_hash("rejected", ""): 1, item_hash("dropped", ""): 1}


def test_items_that_it_cannot_be_told_of_keep_no_others(tmp_path: Path) -> None:
    class Failing(Holding):
        async def done(self, name: str) -> None:
            if name.startswith("bad"):
                raise SourceError("https://orders/done: HTTP status 500")
            await super().done(name)

    async def scenario() -> None:
        workflow = Workflow("untold")
        workflow.queue("work", workflow.source("names"))
        bad = {f"bad {number:02}": 0 for number in range(20)}
        source = Failing(bad | {str(number): 0 for number in range(40)})
        files = {"work": queue_files("work", "true", at_once=8)}
        async with managed(workflow, tmp_path, files, {"names": source}) as manager:
            last = "HTTP status 500; 19 more items can't be let go of"
            await manager.until(lambda status: any(last in each.problem for each in status.sources))
            await manager.until(lambda status: source.data == bad)

    asyncio.run(scenario())


def test_sources_whose_long_names_begin_alike_have_a_record_each(tmp_path: Path) -> None:
    workflow = Workflow("rejecting")
    sources, files = {}, {}
    for end in "ab":
        stream = workflow.filter(f"some_{end}", workflow.source("n" * 60 + end), "false")
        workflow.queue(f"work_{end}", stream)
        sources["n" * 60 + end] = Holding({end: 0})
        files[f"work_{end}"] = queue_files(f"work_{end}", "true")
    asyncio.run(until_idle(workflow, tmp_path, files, sources))
    records = [folder.name for folder in (tmp_path / "ledger").glob("*--dropped")]
    found = [item for each in records for item in recorded(tmp_path, each)]
    assert sorted(found) == sorted(item_hash(end, "") for end in "ab")
    assert [len(each) <= 63 for each in records] == [True, True]


def test_what_cannot_be_recorded_stays_with_its_source(tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    in_the_way = tmp_path / "ledger" / DROPPED
    files = {"work": queue_files("work", "true")}
    source = Watched({}, tmp_path)

    async def scenario() -> None:
        async with managed(rejecting(), tmp_path, files, {"names": source}) as manager:
            await manager.until(lambda status: status.idle)
            in_the_way.touch()
            source.data["rejected"] = 0
            status = await manager.until(
                lambda status: any("recorded" in each.problem for each in status.sources)
            )
            assert source.data
            assert not status.idle
            in_the_way.unlink()
            await manager.until(lambda status: status.idle)
            assert (source.data, source.early) == ({}, [])

    asyncio.run(scenario())


def test_a_second_manager_tells_what_the_first_had_recorded(tmp_path: Path) -> None:
    class Deaf(Watched):
        async def done(self, name: str) -> None:
            raise SourceError("no")

    async def scenario() -> None:
        folder = tmp_path / "ledger" / DROPPED
        data = {str(number): 0 for number in range(700)}
        files = {"work": queue_files("work", "true")}
        async with managed(rejecting(), tmp_path, files, {"names": Deaf(data, tmp_path)}) as manager:
            await manager.until(lambda status: folder.exists() and len(recorded(tmp_path, DROPPED)) == 700)
        source = Watched(data, tmp_path)
        async with managed(rejecting(), tmp_path, files, {"names": source}) as manager:
            await manager.until(lambda status: not source.data)
            # nor is it remembered for longer than the source lists it
            await manager.until(lambda status: not recorded(tmp_path, DROPPED))

    asyncio.run(scenario())


class Forgetful(Holding):
    """A source that dies after it has said yes, and knows nothing of that when it is there again."""

    deaf = 1

    async def done(self, name: str) -> None:
        self.told.append(name)
        if self.deaf:
            self.deaf -= 1
        else:
            self.data.pop(name, None)


def test_what_a_source_lists_still_is_told_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("acknowledged")
        workflow.queue("work", workflow.source("names"))
        files = {"work": queue_files("work", "true")}
        source = Forgetful({"a": "a"})
        periods = replace(QUICK, audit=1.0)
        async with managed(workflow, tmp_path, files, {"names": source}, periods) as manager:
            await manager.until_done(1)
            await asyncio.sleep(0.5)
            assert source.told == ["a"]
            await manager.until(lambda status: not source.data)

    asyncio.run(scenario())
