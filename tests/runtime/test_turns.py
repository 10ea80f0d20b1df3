"""Every input of a merger makes progress, however much another one brings."""

import asyncio
from pathlib import Path

from support.localrun import queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow


def test_a_long_input_does_not_keep_a_short_one_waiting(tmp_path: Path) -> None:
    workflow = Workflow("turns")
    inputs = {"long": workflow.source("long"), "short": workflow.source("short")}
    workflow.queue("work", workflow.merger("all", inputs))
    out = tmp_path / "out"
    files = {"work": queue_files("work", f'cat "$WORK_ITEM_DIR/from" >> {out}; echo >> {out}', at_once=1)}
    sources = {
        name: {f"item {number}": {"from": name} for number in range(count)}
        for name, count in (("long", 30), ("short", 3))
    }
    asyncio.run(until_idle(workflow, tmp_path, files, sources))
    order = out.read_text().split()
    assert len(order) == 33
    last = max(place for place, name in enumerate(order) if name == "short")
    assert last < 10, order
