"""`wqc graph`: where the drawing and the findings go."""

import json
from pathlib import Path

from support.command import wqc

WORKFLOW = """\
workflow w
source s: items { items = ["a"], arrives = 1m }
worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 1s }
queue q { from = s, worker = k }
manager { image = "example.com/wqc-runtime:0.1.0" }
"""
TREE = """\
w

s (source items)
└─ 1/min → q (queue, parallelism 1)
"""
UNREAD = WORKFLOW + 'source t: items { items = ["b"], arrives = 1m }\n'


def test_a_tree(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(WORKFLOW)
    ran = wqc("graph", "w.wq", folder=tmp_path)
    assert (ran.status, ran.out) == (0, TREE)


def test_params_change_it(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(
        "param every: duration = 1m\n" + WORKFLOW.replace("arrives = 1m", "arrives = every")
    )
    assert "1/min →" in wqc("graph", "w.wq", folder=tmp_path).out
    assert "2/min →" in wqc("graph", "w.wq", "--param", "every=30s", folder=tmp_path).out


def test_findings_go_to_standard_error_and_their_nodes_are_marked(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(UNREAD)
    ran = wqc("graph", "w.wq", folder=tmp_path)
    assert ran.status == 1
    assert ran.err.startswith("error[WQ")
    code = ran.err[len("error[") : ran.err.index("]")]
    assert ran.out == TREE + f"\nt (source items) error[{code}]\n"


def test_other_formats(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(WORKFLOW)
    assert wqc("graph", "w.wq", "--format", "mermaid", folder=tmp_path).out.startswith("flowchart LR\n")
    assert wqc("graph", "w.wq", "--format", "dot", folder=tmp_path).out.startswith('digraph "w" {\n')
    graph = json.loads(wqc("graph", "w.wq", "--format", "json", folder=tmp_path).out)
    assert [edge["items_per_second"] for edge in graph["edges"]] == [1 / 60]


def test_a_file_that_is_not_understood_has_no_graph(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text('source s: items { items = ["a"] }\n')
    ran = wqc("graph", "w.wq", folder=tmp_path)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error[")
