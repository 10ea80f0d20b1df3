"""A workflow's graph in every format, exactly."""

import json as json_module

import pytest

from support.places import at
from wqc.diagnostics.finding import Finding, Level
from wqc.diagnostics.source import Source
from wqc.emit.drawing import dot, json, mermaid, tree
from wqc.emit.drawing.drawing import Drawing, drawing, rate_words
from wqc.model.flow import flow_of
from wqc.pipeline import Options, check

WORKER = 'worker k { image = "example.com/k:1", takes = 1s }\n'
FILE = Source(
    "w.wq",
    f"""workflow w
source a: items {{ each = {{ x = ["1"], y = ["2"] }}, items = each, arrives = 4s }}
source b: http {{ url = "http://example.com" }}
{WORKER}
merger all {{ from = [a.x, copied] }}
copier copied {{ from = a.y }}
queue late {{
  from = all
  worker = k
}}
queue other {{ from = copied, worker = k, parallelism = 1..3 }}
splitter end {{ from = b, cases = {{ c = item.data.c }}, otherwise = drop }}
sharder s {{ from = end.c, key = item.name, shards = [p, q] }}
queue lanes {{ from = s, worker = k }}
queue again {{ from = other.failed, worker = k }}
""",
)


def drawn(source: Source, *findings: Finding) -> Drawing:
    checked = check(source, Options())
    assert checked.workflow is not None, checked.findings
    return drawing(flow_of(checked.workflow), findings)


ERROR = Finding("WQ901", Level.ERROR, "x", at(FILE, "worker = k", 0))
NOTE = Finding("WQ902", Level.NOTE, "x", at(FILE, "queue late"))
WARNING = Finding("WQ903", Level.WARNING, "x", at(FILE, "end"))
ELSEWHERE = Finding("WQ904", Level.ERROR, "x", at(FILE, "workflow"))
DRAWING = drawn(FILE, ERROR, NOTE, WARNING, ELSEWHERE)

TREE = """\
w

a (source items, 2 members)
├─ x 15/min → all (merger)
│  └─ 30/min → late (queue, parallelism 1) error[WQ901] note[WQ902]
└─ y 15/min → copied (copier)
   ├─ 15/min → all, see above
   └─ 15/min → other (queue, parallelism 1..3)
      └─ failed 0/s → again (queue, parallelism 1)

b (source http)
└─ ? → end (splitter) warning[WQ903]
   └─ c ? → s (sharder, 2 shards)
      └─ ? → lanes (queue, 2 lanes of 1)
"""


def test_tree() -> None:
    assert tree.render(DRAWING) == TREE


def test_colour_adds_nothing_but_colour() -> None:
    assert "late (queue, parallelism 1) \x1b[1;31merror[WQ901] note[WQ902]\x1b[0m\n" in tree.render(
        DRAWING, colour=True
    )


def test_a_cycle_is_drawn_once() -> None:
    source = Source(
        "w.wq",
        f"workflow w\n{WORKER}queue p {{ from = q, worker = k }}\nqueue q {{ from = p, worker = k }}\n",
    )
    assert tree.render(drawn(source)) == (
        "w\n\np (queue, parallelism 1)\n└─ ? → q (queue, parallelism 1)\n   └─ ? → p, see above\n"
    )


def test_a_very_long_chain() -> None:
    queues = "".join(
        f"queue q{n} {{ from = {f'q{n - 1}' if n else 's'}, worker = k }}\n" for n in range(3000)
    )
    source = Source("w.wq", f'workflow w\nsource s: items {{ items = ["1"] }}\n{WORKER}{queues}')
    assert tree.render(drawn(source)).count("\n") == 3003


def test_mermaid() -> None:
    lines = mermaid.render(DRAWING).splitlines()
    assert lines[0] == "flowchart LR"
    assert '    n_end["<b>end</b><br>splitter<br>warning[WQ903]"]' in lines
    assert '    n_end -->|"c ?"| n_s' in lines
    assert lines[-4:] == [
        "    classDef error fill:#fdd,stroke:#c00,color:#000",
        "    class n_late error",
        "    classDef warning fill:#ffd,stroke:#a80,color:#000",
        "    class n_end warning",
    ]


def test_dot() -> None:
    lines = dot.render(DRAWING).splitlines()
    assert (lines[0], lines[-1]) == ('digraph "w" {', "}")
    assert r'  "late" [label="late\nqueue, parallelism 1\nerror[WQ901]\nnote[WQ902]", color=red]' in lines
    assert '  "a" -> "copied" [label="y 15/min"]' in lines


def test_json() -> None:
    graph = json_module.loads(json.render(DRAWING))
    assert (graph["format_version"], graph["workflow"]) == (1, "w")
    assert graph["nodes"][0] == {"name": "a", "block": "source", "kind": "items", "findings": []}
    assert graph["nodes"][4]["findings"] == [
        {"code": "WQ901", "level": "error"},
        {"code": "WQ902", "level": "note"},
    ]
    assert {"from": "a", "output": "y", "to": "copied", "items_per_second": 0.25} in graph["edges"]
    assert {"from": "b", "output": "", "to": "end", "items_per_second": None} in graph["edges"]


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (None, "?"),
        (0, "0/s"),
        (12345.6, "12,346/s"),
        (1, "1/s"),
        (0.999, "59.9/min"),
        (0.001, "3.6/h"),
        (1e-5, "0.864/d"),
    ],
)
def test_rates_in_words(rate: float | None, words: str) -> None:
    assert rate_words(rate) == words
