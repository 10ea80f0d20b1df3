"""The lanes of a queue share names and record: an item that comes to another lane is still one item."""

import asyncio
from pathlib import Path

from support.localrun import jobs, queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow

NAMES = [f"item {number}" for number in range(12)]


def run(state: Path, out: Path, shards: tuple[str, ...], script: str, retries: int) -> None:
    workflow = Workflow("moved")
    zone = workflow.sharder("zone", workflow.source("names"), key="item.name", shards=shards)
    workflow.queue("work", zone)
    note = f'echo "$(cat "$WORK_ITEM_FILE")" >> {out}; {script}'
    files = {"work": queue_files("work", note, lanes=shards, retries=retries)}
    asyncio.run(until_idle(workflow, state, files, {"names": NAMES}))


def test_what_is_done_in_one_lane_is_done(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(tmp_path / "s", out, ("a", "b"), "true", 0)
    run(tmp_path / "s", out, ("b", "c", "d"), "true", 0)
    assert sorted(out.read_text().splitlines()) == sorted(f'"{name}"' for name in NAMES)


def test_attempts_are_counted_on_where_an_item_has_other_lanes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(tmp_path / "s", out, ("a", "b"), "exit 1", 0)
    run(tmp_path / "s", out, ("c",), "exit 1", 0)
    assert sorted(job["name"] for job in jobs(tmp_path / "s")) == sorted(NAMES)
    assert {job["attempt"] for job in jobs(tmp_path / "s")} == {1}
