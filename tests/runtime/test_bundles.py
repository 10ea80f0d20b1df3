"""What nodes make of bundles (docs/decisions/bundles.md), in generated managers."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.built import Folder
from support.localrun import jobs, queue_files, until_idle
from wqc.patterns.item import Item
from wqc.runtime.graph.graph import Graph, Port
from wqc.runtime.graph.workflow import Workflow

TEXT = """
workflow shelves

source repo: items {
  each  = { api = ["x", "y"], web = ["x", "z"] }
  items = each
}
worker k { image = "example.com/k:1", command = ["work"], takes = 1s }

copier both { from = repo }
queue every { from = both, worker = k }

filter kept { from = both, where = item.name != "y" }
splitter cut {
  from      = kept
  cases     = { small = item.data.size < 10, red = item.data.red }
}
queue small   { from = cut.small, worker = k }
queue red_api { from = cut.red.api, worker = k }
queue red_web { from = cut.red.web, worker = k }
merger rest   { from = cut.otherwise }
queue others  { from = rest, worker = k }
merger unsure { from = cut.failed }
queue asked   { from = unsure, worker = k }

sharder region { from = every, key = item.name, shards = [a, b] }
filter local   { from = region, where = item.data.size > 0 }
queue near     { from = local, worker = k }
queue puzzles  { from = local.a.failed, worker = k }
"""


@pytest.fixture(scope="module")
def program() -> str:
    return Folder(TEXT, "shelves.wq").program()


@pytest.fixture(scope="module")
def workflow(program: str) -> Workflow:
    names: dict[str, Any] = {"__name__": "manager"}
    exec(program, names)
    found = names["workflow"]
    assert isinstance(found, Workflow)
    return found


def delivered(graph: Graph, port: Port, item: Item) -> set[tuple[str, str, str]]:
    """Queue, lane and name."""
    routed = graph.route([port], item)
    assert not any(each.failure for each in routed)
    return {(each.station, each.lane, each.name) for each in routed}


def test_members_of_a_source_share_no_names(workflow: Workflow) -> None:
    item = Item("x", "", {"size": 3, "red": True})
    assert delivered(workflow.graph, Port("repo", "api"), item) == {
        ("every", "api", "api:x"),
        ("small", "api", "api:x"),
        ("red_api", "", "x"),
    }
    assert delivered(workflow.graph, Port("repo", "web"), item) == {
        ("every", "web", "web:x"),
        ("small", "web", "web:x"),
        ("red_web", "", "x"),
    }


def test_a_filter_works_on_each_member(workflow: Workflow) -> None:
    item = Item("y", "", {"size": 3, "red": True})
    assert delivered(workflow.graph, Port("repo", "api"), item) == {("every", "api", "api:y")}


def test_a_merger_names_items_as_a_queue_does(workflow: Workflow) -> None:
    item = Item("z", "", {"size": 30, "red": False})
    assert delivered(workflow.graph, Port("repo", "web"), item) == {
        ("every", "web", "web:z"),
        ("others", "", "web:z"),
    }


def test_what_fails_goes_to_its_member_s_failed_stream(workflow: Workflow) -> None:
    item = Item("x", "", {"size": "large", "red": True})
    deliveries = delivered(workflow.graph, Port("repo", "web"), item)
    assert deliveries == {("every", "web", "web:x"), ("asked", "", "web:x")}


def test_shards_share_names(workflow: Workflow) -> None:
    shard = {
        name: lane
        for name in map(str, range(20))
        for _, lane, named in delivered(workflow.graph, Port("every"), Item(name, "", {"size": 1}))
        if named == name
    }
    assert set(shard.values()) == {"a", "b"}
    assert len(shard) == 20
    in_a = next(name for name, lane in shard.items() if lane == "a")
    assert delivered(workflow.graph, Port("every"), Item(in_a, "", {})) == {("puzzles", "", in_a)}
    in_b = next(name for name, lane in shard.items() if lane == "b")
    routed = workflow.graph.route([Port("every")], Item(in_b, "", {}))
    assert [(each.station, each.name, bool(each.failure)) for each in routed] == [("local.b", in_b, True)]


def test_each_queue_has_a_lane_for_each_member(workflow: Workflow) -> None:
    assert workflow.queues["every"] == workflow.queues["small"] == ("api", "web")
    assert workflow.queues["near"] == ("a", "b")
    assert workflow.queues["red_api"] == ("",)


def test_the_program_passes_the_strictest_type_check(program: str, tmp_path: Path) -> None:
    path = tmp_path / "manager.py"
    path.write_text(program)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(path)], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout


def test_the_same_name_in_two_members_is_two_items(tmp_path: Path) -> None:
    workflow = Workflow("shelves")
    kept = workflow.filter("kept", workflow.bundle("repo", ("api", "web")), where="item.name != 'y'")
    workflow.queue("every", workflow.copier("both", kept))
    out = tmp_path / "out"
    out.mkdir()
    script = f'cat "$WORK_ITEM_FILE" > "$(mktemp {out}/XXXXXX)"'
    files = {"every": queue_files("every", script, ("api", "web"))}
    sources: dict[str, Any] = {"repo.api": {"x": 1, "y": 2}, "repo.web": {"x": 3}}
    for _ in range(2):
        status = asyncio.run(until_idle(workflow, tmp_path / "s", files, sources))
        assert (status.queues[0].done, status.queues[0].failed) == (2, 0)
    assert sorted(path.read_text() for path in out.iterdir()) == ["1", "3"]
    assert sorted(job["name"] for job in jobs(tmp_path / "s")) == ["api:x", "web:x"]


def test_a_member_that_is_not_there() -> None:
    workflow = Workflow("w")
    bundle = workflow.bundle("repo", ("api", "web"))
    with pytest.raises(KeyError, match="repo has no member app, but api, web"):
        bundle["app"]
    cut = workflow.splitter("cut", bundle, cases={"red": "item.data.red"})
    with pytest.raises(KeyError, match="cut has no case blue, but red"):
        cut["blue"]
