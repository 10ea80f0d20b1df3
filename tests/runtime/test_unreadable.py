"""Items that are listed and can't be read, and sources that can't be listed, keep nobody from what can."""

import asyncio
import time
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from support.localrun import QUICK, queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.feed import AT_ONCE
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.source import Listing, SourceError


class Ailing:
    """Its first `count` items can't be read, and the last `well` can."""

    def __init__(self, count: int, well: int) -> None:
        self.ill = {f"ill {number}" for number in range(count)}
        self.names = [*sorted(self.ill), *(f"well {number}" for number in range(well))]
        self.asked: defaultdict[str, list[float]] = defaultdict(list)

    async def list(self) -> Listing:
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


def test_what_can_not_be_read_is_asked_for_less_and_less_often(tmp_path: Path) -> None:
    source = Ailing(1, well=0)
    (name,) = source.ill

    def watch(status: Status) -> None:
        if len(source.asked[name]) == 4:
            source.ill.clear()

    periods = replace(QUICK, listing=0.1, backoff_limit=60.0)
    files = {"work": queue_files("work", "true")}
    sources = {"names": source}
    asyncio.run(until_idle(reading(), tmp_path, files, sources, watch=watch, periods=periods))
    times = source.asked[name][:5]
    assert len(times) == 5
    assert all(later - earlier >= 0.1 * 2**n for n, (earlier, later) in enumerate(pairwise(times)))
