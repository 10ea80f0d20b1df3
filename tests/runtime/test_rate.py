"""How many items end per second, over the last minute: what `wqc run` and `wqc status` show."""

import asyncio
from dataclasses import replace
from pathlib import Path

from support.localrun import QUICK, managed, queue_files, recorded
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.lanes.rate import WINDOW, Rate


def test_nothing_is_known_before_a_second_look() -> None:
    rate = Rate()
    assert rate.per_second() == 0.0
    rate.observe(100.0, 7)
    assert rate.per_second() == 0.0, "what had ended before isn't of this minute"
    rate.observe(100.0, 9)
    assert rate.per_second() == 0.0, "no time has gone by"


def test_it_is_what_ended_between_the_first_look_and_the_last() -> None:
    rate = Rate()
    for now, count in ((100.0, 7), (110.0, 8), (120.0, 12)):
        rate.observe(now, count)
    assert rate.per_second() == 0.25


def test_what_is_older_than_the_window_counts_no_more() -> None:
    """Ten items a second for half a minute, then none."""
    rate = Rate()
    found = {}
    for second in range(91):
        rate.observe(second, min(10 * second, 300))
        found[second] = rate.per_second()
    assert WINDOW == 60
    assert (found[30], found[60], found[75], found[90]) == (10.0, 5.0, 2.5, 0.0)


def test_looks_that_lie_far_apart_are_compared_all_the_same() -> None:
    rate = Rate()
    rate.observe(0.0, 0)
    rate.observe(10 * WINDOW, 60)
    assert rate.per_second() == 0.1


def test_items_that_are_forgotten_are_no_work_undone() -> None:
    rate = Rate()
    rate.observe(0.0, 1000)
    rate.observe(10.0, 400)
    assert rate.per_second() == 0.0


def test_what_is_tried_again_ends_again() -> None:
    rate = Rate()
    for now, count in ((0.0, 5), (1.0, 2), (10.0, 5)):
        rate.observe(now, count)
    assert rate.per_second() == 0.3


def test_what_ended_before_anybody_looked_is_work_of_this_run(tmp_path: Path) -> None:
    workflow = Workflow("quick")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "true")}

    async def scenario() -> None:
        periods = replace(QUICK, report=600.0)
        async with managed(workflow, tmp_path, files, {"names": ["a", "b"]}, periods) as manager:
            await asyncio.wait_for(until_recorded(), 30)
            (queue,) = manager.status().queues
            assert queue.done == 2
            assert queue.rate > 0
        async with managed(workflow, tmp_path, files, {"names": ["a", "b"]}, periods) as manager:
            (queue,) = (await manager.until_done(2)).queues
            assert queue.rate == 0, "what an earlier run did is none"

    async def until_recorded() -> None:
        while not ((tmp_path / "ledger" / "work").exists() and recorded(tmp_path, "work").total() == 2):
            await asyncio.sleep(0.05)

    asyncio.run(scenario())
