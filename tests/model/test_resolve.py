"""Names become what they stand for."""

import pytest

from support.findings import checked, lines
from wqc.model.nodes import Merger, Queue, StreamRef
from wqc.model.streams import Shape, Streams

SHARDED = """workflow w
source s: files { path = "/m", volume = pvc("m") }
worker k { image = "r/k:1" }
sharder h { from = s, key = item.name, shards = [a, b] }
queue q { from = h, worker = k }
splitter p { from = q, cases = { x = item.name == "x" }, otherwise = drop }
queue r { from = p.x, worker = k }
queue t { from = q.a.failed, worker = k }
queue u { from = q.b.failed, worker = k }
queue v { from = p.failed, worker = k, result = required }
"""


def test_references() -> None:
    workflow = checked(SHARDED).workflow
    assert workflow is not None
    assert workflow.complete
    read = {name: node.source for name, node in workflow.nodes.items() if isinstance(node, Queue)}
    assert read == {
        "q": StreamRef("h"),
        "r": StreamRef("p", "x"),
        "t": StreamRef("q", "failed", "a"),
        "u": StreamRef("q", "failed", "b"),
        "v": StreamRef("p", "failed"),
    }
    assert str(read["t"]) == "q.a.failed"


def test_a_stream_is_called_what_it_is_read_by() -> None:
    lanes = SHARDED.replace("queue q", "splitter cut { from = h, cases = { x = true } }\nqueue q", 1)
    more = "queue w { from = cut.x.a, worker = k }\nqueue y { from = cut.failed.a, worker = k }\n"
    workflow = checked(lanes + more).workflow
    assert workflow is not None
    read = {name: node.source for name, node in workflow.nodes.items() if isinstance(node, Queue)}
    assert [str(read[name]) for name in ("t", "w", "y")] == ["q.a.failed", "cut.x.a", "cut.failed.a"]
    whole = StreamRef("cut", "failed", by_output=True)
    parts = Streams(workflow.nodes).expand(whole)
    assert [str(part) for part in parts] == ["cut.failed.a", "cut.failed.b"]


def test_shapes() -> None:
    workflow = checked(SHARDED).workflow
    assert workflow is not None
    streams = Streams(workflow.nodes)
    files = (("path", "string"), ("name", "string"), ("size", "int"), ("modified", "string"))
    assert streams.shape(StreamRef("h")) == Shape(("a", "b"), files)
    assert streams.shape(StreamRef("q")) == Shape((), files, ("a", "b"))
    assert streams.shape(StreamRef("p", "x")) == Shape((), files)
    assert streams.shape(StreamRef("v")) == Shape()
    assert streams.expand(StreamRef("q")) == (StreamRef("q", "", "a"), StreamRef("q", "", "b"))


@pytest.mark.parametrize(
    ("reference", "finding"),
    [
        ("k", "WQ229 11:18 `k` is a worker, not a stream"),
        ("p", "WQ237 11:18 `p` has a stream per case"),
        ("p.y", "WQ234 11:18 `p` has no output `y`"),
        ("q.c", "WQ234 11:18 `q` has no output `c`"),
        ("nothing", "WQ204 11:18 there is no stream `nothing`"),
    ],
)
def test_wrong_references(reference: str, finding: str) -> None:
    assert lines(SHARDED + f"queue z {{ from = {reference}, worker = k }}\n") == [finding]


def test_what_refers_to_a_broken_block_is_not_reported_again() -> None:
    text = SHARDED.replace("source s: files {", "source s: flies {").replace(
        "worker k {", "worker k { imgae = 1,"
    )
    assert [found[:5] for found in lines(text)] == ["WQ202", "WQ203"]


def test_pipelines_are_flat_and_their_time_is_the_sum() -> None:
    workflow = checked(
        'workflow w\nsource s: items { items = ["a"] }\n'
        'worker a { image = "r/a:1", takes = 2s }\nworker b { image = "r/b:1", takes = 3s }\n'
        "worker ab { pipeline = [a, b] }\nworker aba { pipeline = [ab, a] }\n"
        "queue q { from = s, worker = aba }\n"
    ).workflow
    assert workflow is not None
    worker = workflow.workers["aba"]
    assert [step.name for step in worker.steps] == ["a", "b", "a"]
    assert str(worker.takes) == "7s"


def test_workers_made_from_workers() -> None:
    library = (
        'param root = "r"\n'
        'worker run(script, tag) { image = "${root}/x:${tag}", run = script, memory = 1Gi }\n'
    )
    text = """import "lib.wq" as lib
workflow w
source s: items { items = ["a"] }
worker base(script): lib.run { script = script, tag = "1" }
worker k: base { script = "true", memory = 2Gi }
queue q { from = s, worker = k }
"""
    workflow = checked(text, {"lib.wq": library}).workflow
    assert workflow is not None
    worker = workflow.workers["k"]
    assert (worker.image, worker.run, str(worker.memory)) == ("r/x:1", "true", "2Gi")


def test_bundles_of_sources() -> None:
    workflow = checked(
        "workflow w\n"
        'source r: git { each = { a = "https://a/x", b = "https://b/x" }, url = each, branch = "b" }\n'
        'merger m { from = r }\nworker k { image = "r/k:1" }\nqueue q { from = m, worker = k }\n'
    ).workflow
    assert workflow is not None
    source, merger = workflow.nodes["r"], workflow.nodes["m"]
    assert source.members == {
        "a": {"url": "https://a/x", "branch": "b"},
        "b": {"url": "https://b/x", "branch": "b"},
    }
    assert isinstance(merger, Merger)
    assert merger.sources == (StreamRef("r"),)
