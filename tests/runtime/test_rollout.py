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
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.state import LocalStateStore

LANES = ("a", "b", "c")
ORDER = Order(("c", "a", "b"), prove=2)


def rollout(folder: Path, current: str, order: Order | None = ORDER, newest: float = 0.0) -> Rollout:
    """With the lanes of the order, if there is one."""
    folder.mkdir(exist_ok=True)
    lanes = sorted(order.order) if order else LANES
    made = Rollout("work", lanes, order, current, LocalStateStore(folder))
    asyncio.run(made.load(newest))
    return made


def attempt(template: str, job: str, created: float = 1.0) -> Job:
    return Job(job, "work", "", "item", "", 0, 1, 0, "", created, template=template)


def proved(made: Rollout, lane: str) -> dict[str, str]:
    """What the lanes have after two successes in one of them."""
    for job in "12":
        made.succeeded(lane, attempt("new", lane + job))
    asyncio.run(made.save())
    return {each: made.template(each) for each in "abcd"}


def templates(made: Rollout) -> dict[str, str]:
    return {lane: made.template(lane) for lane in LANES}


def test_without_an_order_all_lanes_have_the_current_one(tmp_path: Path) -> None:
    assert templates(rollout(tmp_path, "old", None)) == dict.fromkeys(LANES, "old")
    assert templates(rollout(tmp_path, "new", None)) == dict.fromkeys(LANES, "new")


def test_the_next_lane_follows_after_two_successes_whatever_restarts(tmp_path: Path) -> None:
    assert templates(rollout(tmp_path, "old")) == dict.fromkeys(LANES, "old")
    made = rollout(tmp_path, "new")
    assert templates(made) == {"a": "old", "b": "old", "c": "new"}
    made.succeeded("c", attempt("new", "1"))
    made.succeeded("c", attempt("new", "1"))  # the same one
    made.succeeded("c", attempt("old", "2"))  # begun before
    made.succeeded("a", attempt("old", "3"))
    asyncio.run(made.save())
    assert made.template("a") == "old"
    made.succeeded("c", attempt("new", "4"))
    assert made.template("a") == "old", "not before it is written down"
    asyncio.run(made.save())
    assert templates(made) == {"a": "new", "b": "old", "c": "new"}
    made = rollout(tmp_path, "new")
    assert templates(made) == {"a": "new", "b": "old", "c": "new"}
    assert made.used == {"old", "new"}
    for job in "56":
        made.succeeded("a", attempt("new", job))
    asyncio.run(made.save())
    made.failed("b", attempt("new", "failed"))  # nothing is left to prove
    asyncio.run(made.save())
    assert templates(rollout(tmp_path, "new")) == dict.fromkeys(LANES, "new")


def test_it_stops_at_the_first_lane_that_fails_until_there_is_another_template(tmp_path: Path) -> None:
    rollout(tmp_path, "old")
    made = rollout(tmp_path, "new")
    made.failed("c", attempt("old", "failed"))
    asyncio.run(made.save())
    made.failed("c", attempt("new", "failed"))
    made.succeeded("c", attempt("new", "1"))
    made.succeeded("c", attempt("new", "2"))
    asyncio.run(made.save())
    assert templates(made) == {"a": "old", "b": "old", "c": "new"}
    made = rollout(tmp_path, "new")
    made.succeeded("c", attempt("new", "3"))
    made.succeeded("c", attempt("new", "4"))
    asyncio.run(made.save())
    assert templates(made) == {"a": "old", "b": "old", "c": "new"}
    assert templates(rollout(tmp_path, "better")) == {"a": "old", "b": "old", "c": "better"}


@pytest.mark.parametrize("saved", ["", "{", '{"target": 3}'])
def test_progress_that_cannot_be_read_is_begun_anew(tmp_path: Path, saved: str) -> None:
    store = LocalStateStore(tmp_path)
    asyncio.run(store.write({"rollout.work": saved}))
    assert templates(rollout(tmp_path, "new")) == dict.fromkeys(LANES, "new")


@pytest.mark.parametrize("is_under_way", [False, True])
def test_a_new_lane_has_what_the_others_have_proven_and_gets_the_new_one_in_its_turn(
    tmp_path: Path, is_under_way: bool
) -> None:
    rollout(tmp_path, "old", Order(("a", "b", "c"), prove=2))
    if is_under_way:
        rollout(tmp_path, "new", Order(("a", "b", "c"), prove=2))
    made = rollout(tmp_path, "new", Order(("a", "b", "c", "d"), prove=2))
    assert proved(made, "d") == {"a": "new", "b": "old", "c": "old", "d": "old"}, "it has nothing to prove"
    assert proved(made, "a") == {"a": "new", "b": "new", "c": "old", "d": "old"}
    assert proved(made, "b") == {"a": "new", "b": "new", "c": "new", "d": "old"}
    assert proved(made, "c") == dict.fromkeys("abcd", "new")
    assert proved(made, "d") == dict.fromkeys("abcd", "new")
    assert rollout(tmp_path, "new", Order(("a", "b", "c", "d", "e"), prove=2)).template("e") == "new"


def test_another_order_and_a_lane_taken_out_leave_each_lane_to_prove_what_it_got(tmp_path: Path) -> None:
    rollout(tmp_path, "old", Order(("a", "b", "c", "d"), prove=2))
    made = rollout(tmp_path, "new", Order(("a", "b", "c", "d"), prove=2))
    assert proved(made, "a") == {"a": "new", "b": "new", "c": "old", "d": "old"}
    made = rollout(tmp_path, "new", Order(("d", "c", "b", "a"), prove=2))
    assert proved(made, "a") == {"a": "new", "b": "new", "c": "old", "d": "old"}, "a has proven it"
    assert proved(made, "b") == {"a": "new", "b": "new", "c": "old", "d": "new"}
    made = rollout(tmp_path, "new", Order(("c", "b", "a"), prove=2))
    assert {made.template(lane) for lane in "abc"} == {"new"}, "d can't prove it any more"


def test_the_lanes_that_were_left_are_taken_out(tmp_path: Path) -> None:
    rollout(tmp_path, "old")
    made = rollout(tmp_path, "new")
    assert made.template("c") == "new"
    made = rollout(tmp_path, "new", Order(("c",), prove=2))
    assert proved(made, "c")["c"] == "new"
    made.failed("c", attempt("new", "bad"))
    asyncio.run(made.save())
    assert proved(made, "c")["c"] == "new"


def test_a_rollback_gives_the_first_lane_the_template_that_the_last_one_kept(tmp_path: Path) -> None:
    order = Order(("a", "b", "c"), prove=2)
    rollout(tmp_path, "new", order)
    made = rollout(tmp_path, "other", order)
    for job in "12":
        made.succeeded("a", attempt("other", job))
    asyncio.run(made.save())
    made = rollout(tmp_path, "new", order)
    assert [made.template(lane) for lane in "abc"] == ["new", "other", "new"]
    assert proved(made, "c")["b"] == "other"
    assert proved(made, "a")["b"] == "new"


def test_only_attempts_of_the_rollout_say_anything_about_its_template(tmp_path: Path) -> None:
    rollout(tmp_path, "old")
    rollout(tmp_path, "new", newest=5.0)
    made = rollout(tmp_path, "new", newest=7.0)  # restarted: it begins no second time
    made.failed("c", attempt("new", "held since then", created=5.0))
    asyncio.run(made.save())
    for job in "12":
        made.succeeded("c", attempt("new", job, created=4.0))
    asyncio.run(made.save())
    assert templates(made) == {"a": "old", "b": "old", "c": "new"}
    for job in "34":
        made.succeeded("c", attempt("new", job, created=6.0))
    asyncio.run(made.save())
    assert templates(made) == {"a": "new", "b": "old", "c": "new"}


# --- in a queue ---


def run(state: Path, script: str, count: int, queue: str = "work", formerly: str = "") -> str:
    """The template's digest. Half of the items go to each lane, as near as can be."""
    order: dict[str, Any] = {"order": ["b", "a"], "prove": 3}
    more: dict[str, Any] = {"rollout": order, "retries": 0, "formerly": formerly}
    files = queue_files(queue, script, lanes=("a", "b"), at_once=1, **more)
    workflow = Workflow("demo")
    names = workflow.source("names")
    workflow.queue(queue, workflow.sharder("half", names, key="item.name", shards=["a", "b"]))
    items = [f"item {number:03}" for number in range(count)]
    asyncio.run(until_idle(workflow, state, {queue: files}, {"names": items}, timeout=120))
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


def test_an_item_that_failed_before_a_rollout_does_not_stop_the_way_back(tmp_path: Path) -> None:
    well = 'if grep -q "item 00" "$WORK_ITEM_FILE"; then exit 1; fi'
    run(tmp_path, well, 20)
    run(tmp_path, "true # other", 60)
    before = made_with(tmp_path)
    digest = run(tmp_path, well, 100)
    assert (made_with(tmp_path) - before)["a", digest] > 0


def test_a_queue_that_is_renamed_goes_on_with_its_rollout(tmp_path: Path) -> None:
    old = run(tmp_path, "true # old", 20)
    bad = run(tmp_path, "exit 1", 60)
    before = made_with(tmp_path)
    run(tmp_path, "exit 1", 100, queue="other", formerly="work")
    found = made_with(tmp_path) - before
    assert found["b", bad] > 0
    assert found["a", old] > 0
    assert found["a", bad] == 0, "it had stopped"
    kept = {path.parent.name: path.read_text() for path in (tmp_path / "templates").glob("*/*")}
    assert set(kept) == {"other"}
