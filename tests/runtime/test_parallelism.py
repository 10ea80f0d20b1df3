"""No more of a queue's items are at work at a time than its `parallelism` says, repeated ones included."""

import asyncio
from pathlib import Path

import pytest

from support.localrun import queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow

AT_ONCE = 3
ITEMS = [f"item {number}" for number in range(24)]
WORK = """
echo + >>{log}
sleep 0.1
echo - >>{log}
case $(cat "$WORK_ITEM_FILE") in *3*) exit 1;; esac
"""


def most(log: Path) -> int:
    """How many were at work at a time, at most."""
    now = highest = 0
    for line in log.read_text().split():
        now += 1 if line == "+" else -1
        highest = max(highest, now)
    return highest


@pytest.mark.parametrize("lanes", [("",), ("a", "b")])
def test_no_more_are_at_work(tmp_path: Path, lanes: tuple[str, ...]) -> None:
    log = tmp_path / "log"
    workflow = Workflow("narrow")
    stream = workflow.source("names")
    shards = workflow.sharder("cut", stream, key="item.name", shards=lanes) if lanes[0] else stream
    workflow.queue("work", shards)
    files = {"work": queue_files("work", WORK.format(log=log), lanes, AT_ONCE, retries=2)}
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": ITEMS}))
    assert (status.queues[0].done, status.queues[0].failed) == (21, 3)
    assert AT_ONCE <= most(log) <= AT_ONCE * len(lanes)
