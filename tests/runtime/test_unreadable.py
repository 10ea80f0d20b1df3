"""Items, sources and records that can't be read keep nobody from what can."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from support.localrun import QUICK, managed, queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.feed import AT_ONCE
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.source import Listing, SourceError


class Ailing:
    """Its first `count` items can't be read, and the last `well` can."""

    def __init__(self, count: int, well: int, is_down: bool = False) -> None:
        self.is_down = is_down
        self.listed: list[float] = []
        self.ill = {f"ill {number}" for number in range(count)}
        self.names = [*sorted(self.ill), *(f"well {number}" for number in range(well))]
        self.asked: defaultdict[str, list[float]] = defaultdict(list)

    async def list(self) -> Listing:
        self.listed.append(time.monotonic())
        if self.ill and self.is_down:
            raise SourceError("it is down")
        return Listing(dict.fromkeys(self.names, ""))

    async def get(self, name: str) -> str:
        self.asked[name].append(time.monotonic())
        if name in self.ill:
            raise SourceError("it is locked")
        return "1"

    async def close(self) -> None:
        pass


def reading() -> Workflow:
    workflow = Workflow("ailing")
    workflow.queue("work", workflow.filter("some", workflow.source("names"), "item.data == 1"))
    return workflow


def test_what_can_not_be_read_keeps_nobody_from_what_comes_behind_it(tmp_path: Path) -> None:
    source = Ailing(2 * AT_ONCE + 1, well=3)
    seen = False

    def watch(status: Status) -> None:
        nonlocal seen
        if source.ill and status.queues and status.queues[0].done == 3:
            assert "it is locked" in status.sources[0].problem
            seen = True
            source.ill.clear()

    files = {"work": queue_files("work", "true")}
    status = asyncio.run(until_idle(reading(), tmp_path, files, {"names": source}, watch=watch))
    assert seen
    assert [queue.done for queue in status.queues] == [len(source.names)]
    assert not status.sources[0].problem


def doubled(times: list[float]) -> bool:
    """At least 0.1 s, and twice as long with each time."""
    return all(later - earlier >= 0.1 * 2**n for n, (earlier, later) in enumerate(pairwise(times)))


def until_asked(source: Ailing, workflow: Workflow, folder: Path, asked: Callable[[], list[float]]) -> None:
    def watch(status: Status) -> None:
        if len(asked()) >= 4:
            source.ill.clear()

    periods = replace(QUICK, listing=0.1, backoff=0.1, retry_listing=0.1, backoff_limit=60.0)
    files = {"work": queue_files("work", "true")}
    asyncio.run(until_idle(workflow, folder, files, {"names": source}, watch=watch, periods=periods))
    assert len(asked()) >= 5


def test_what_can_not_be_read_is_asked_for_less_and_less_often(tmp_path: Path) -> None:
    source = Ailing(1, well=0)
    until_asked(source, reading(), tmp_path, lambda: source.asked["ill 0"])
    assert doubled(source.asked["ill 0"][:5])


def test_what_can_not_be_started_is_asked_for_less_and_less_often(tmp_path: Path) -> None:
    source = Ailing(1, well=0)
    workflow = Workflow("plain")
    workflow.queue("work", workflow.source("names"))
    until_asked(source, workflow, tmp_path, lambda: source.asked["ill 0"])
    assert doubled(source.asked["ill 0"][:5])


def test_a_source_that_is_down_is_asked_less_and_less_often(tmp_path: Path) -> None:
    source = Ailing(1, well=0, is_down=True)
    until_asked(source, reading(), tmp_path, lambda: source.listed)
    assert doubled(source.listed[:5])


def test_a_record_that_can_not_be_read_keeps_only_its_own_queue_from_working(tmp_path: Path) -> None:
    """What comes to that one waits, from a source or a queue; what is in the record isn't repeated."""
    out = tmp_path / "out"
    workflow = Workflow("damaged")
    both = workflow.copier("both", workflow.source("names"))
    good = workflow.queue("good", both)
    inputs = {"names": both, "good": good}
    workflow.queue("bad", workflow.merger("all", inputs))
    files = {
        "good": queue_files("good", "true", keep=0),
        "bad": queue_files("bad", f"echo $(cat $WORK_ITEM_FILE) >> {out}", keep=0),
    }
    periods = replace(QUICK, backoff_limit=0.2)

    def done(status: Status) -> dict[str, int]:
        return {queue.queue: queue.done for queue in status.queues}

    async def scenario() -> None:
        async with managed(workflow, tmp_path, files, {"names": ["a"]}, periods) as manager:
            await manager.settled(lambda status: not any((tmp_path / "jobs").glob("*")))
        segment = next((tmp_path / "ledger" / "bad").iterdir())
        content = segment.read_bytes()
        segment.write_bytes(b"rubbish")
        async with managed(workflow, tmp_path, files, {"names": ["a", "b"]}, periods) as manager:
            status = await manager.until(lambda status: any(queue.handing for queue in status.queues))
            (bad,) = [queue for queue in status.queues if queue.queue == "bad"]
            assert "is not a segment of a ledger" in bad.blocked
            assert not bad.knows
            assert len(out.read_text().split()) == 2
            segment.write_bytes(content)
            await manager.settled(lambda status: done(status) == {"good": 2, "bad": 4})
        assert sorted(out.read_text().split()) == ['"a"', '"a"', '"b"', '"b"']

    asyncio.run(scenario())
