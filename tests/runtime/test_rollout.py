"""A new template comes to the lanes one after the other, and stops where it fails."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.localrun import queue_files, until_idle
from wqc.contract.settings import Rollout as Order
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.lanes.rollout import Rollout
from wqc.runtime.queue.templates import digest_of
from wqc.runtime.stores.local.state import LocalStateStore

LANES = ("a", "b", "c")
ORDER = Order(("c", "a", "b"), prove=2)


def rollout(folder: Path, current: str, order: Order | None = ORDER) -> Rollout:
    folder.mkdir(exist_ok=True)
    made = Rollout("work", LANES, order, current, LocalStateStore(folder))
    asyncio.run(made.load())
    return made


def templates(made: Rollout) -> dict[str, str]:
    return {lane: made.template(lane) for lane in LANES}


def test_without_an_order_all_lanes_have_the_current_one(tmp_path: Path) -> None:
    assert templates(rollout(tmp_path, "old", None)) == dict.fromkeys(LANES, "old")
    assert templates(rollout(tmp_path, "new", None)) == dict.fromkeys(LANES, "new")


def test_the_next_lane_follows_after_two_successes_whatever_restarts(tmp_path: Path) -> None:
    assert templates(rollout(tmp_path, "old")) == dict.fromkeys(LANES, "old")
    made = rollout(tmp_path, "new")
    assert templates(made) == {"a": "old", "b": "old", "c": "new"}
    made.succeeded("c", "new", "1")
    made.succeeded("c", "new", "1")  # the same one
    made.succeeded("c", "old", "2")  # begun before
    made.succeeded("a", "old", "3")
    asyncio.run(made.save())
    assert made.template("a") == "old"
    made.succeeded("c", "new", "4")
    assert made.template("a") == "old", "not before it is written down"
    asyncio.run(made.save())
    assert templates(made) == {"a": "new", "b": "old", "c": "new"}
    made = rollout(tmp_path, "new")
    assert templates(made) == {"a": "new", "b": "old", "c": "new"}
    assert made.used == {"old", "new"}
    for job in "56":
        made.succeeded("a", "new", job)
    asyncio.run(made.save())
    made.failed("b", "new")  # nothing is left to prove
    asyncio.run(made.save())
    assert templates(rollout(tmp_path, "new")) == dict.fromkeys(LANES, "new")


def test_it_stops_at_the_first_lane_that_fails_until_there_is_another_template(tmp_path: Path) -> None:
    rollout(tmp_path, "old")
    made = rollout(tmp_path, "new")
    made.failed("c", "old")
    asyncio.run(made.save())
    made.failed("c", "new")
    made.succeeded("c", "new", "1")
    made.succeeded("c", "new", "2")
    asyncio.run(made.save())
    assert templates(made) == {"a": "old", "b": "old", "c": "new"}
    made = rollout(tmp_path, "new")
    made.succeeded("c", "new", "3")
    made.succeeded("c", "new", "4")
    asyncio.run(made.save())
    assert templates(made) == {"a": "old", "b": "old", "c": "new"}
    assert templates(rollout(tmp_path, "better")) == {"a": "old", "b": "old", "c": "better"}


@pytest.mark.parametrize("saved", ["", "{", '{"target": 3}'])
def test_progress_that_cannot_be_read_is_begun_anew(tmp_path: Path, saved: str) -> None:
    store = LocalStateStore(tmp_path)
    asyncio.run(store.write({"rollout.work": saved}))
    assert templates(rollout(tmp_path, "new")) == dict.fromkeys(LANES, "new")


def test_a_lane_taken_out_or_added(tmp_path: Path) -> None:
    rollout(tmp_path, "old")
    made = Rollout("work", ("a", "d"), Order(("a", "d")), "new", LocalStateStore(tmp_path))
    asyncio.run(made.load())
    assert {lane: made.template(lane) for lane in ("a", "d")} == {"a": "new", "d": "new"}


# --- in a queue ---


def run(state: Path, script: str, count: int) -> str:
    """The template's digest. Half of the items go to each lane, as near as can be."""
    order: dict[str, Any] = {"order": ["b", "a"], "prove": 3}
    files = queue_files("work", script, lanes=("a", "b"), at_once=1, rollout=order, retries=0)
    workflow = Workflow("demo")
    names = workflow.source("names")
    workflow.queue("work", workflow.sharder("half", names, key="item.name", shards=["a", "b"]))
    items = [f"item {number:03}" for number in range(count)]
    asyncio.run(until_idle(workflow, state, {"work": files}, {"names": items}, timeout=120))
    return digest_of(files.job)


def made_with(state: Path) -> Counter[tuple[str, str]]:
    labels = [
        json.loads(path.read_text())["job"]["metadata"]["labels"]
        for path in (state / "jobs").glob("*/job.json")
    ]
    return Counter((each["wqc/lane"], each["wqc/template"]) for each in labels)


def test_lanes_work_with_their_own_templates(tmp_path: Path) -> None:
    state = tmp_path / "state"
    old = run(state, "true # old", 20)
    assert {template for _, template in made_with(state)} == {old}
    new = run(state, "true # new", 60)
    found = made_with(state)
    assert found["b", old] > 0
    assert found["a", new] > 0
    before = made_with(state)
    bad = run(state, "exit 1", 100)
    found = made_with(state) - before
    assert found["b", bad] > 0
    assert found["a", new] > 0, "it keeps the one that works"
    assert found["a", bad] == 0
    assert {path.name for path in (state / "templates" / "work").iterdir()} == {new, bad}
