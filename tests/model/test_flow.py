"""Who reads what, and in which order."""

import subprocess
import sys

from support.findings import checked
from wqc.model.edges import Edge
from wqc.model.flow import Flow
from wqc.model.nodes import StreamRef
from wqc.model.order import order_of

HEAD = 'workflow w\nsource s: items { items = ["a"] }\nworker k { image = "r/k:1" }\n'


def flow_of(nodes: str) -> Flow:
    flow = checked(HEAD + nodes).flow
    assert flow is not None
    return flow


def edges(*pairs: str) -> list[Edge]:
    return [Edge(StreamRef(pair[0]), pair[1]) for pair in pairs]


def cycles(names: str, *pairs: str) -> list[str]:
    _, found = order_of(tuple(names), edges(*pairs))
    return ["".join([cycle[0].stream.node, *(edge.reader for edge in cycle)]) for cycle in found]


def test_edges_have_the_place_where_the_reader_names_the_stream() -> None:
    flow = flow_of("merger m { from = [s, q.failed] }\nqueue q { from = m, worker = k }\n")
    assert [
        (str(edge.stream), edge.reader, edge.stream.span and edge.stream.span.text) for edge in flow.edges
    ] == [("s", "m", "s"), ("q.failed", "m", "q.failed"), ("m", "q", "m")]


def test_the_order_declared_unless_something_is_read_before() -> None:
    assert flow_of("queue q { from = s, worker = k }\nqueue r { from = q, worker = k }\n").order == (
        "s",
        "q",
        "r",
    )
    assert flow_of("queue r { from = q, worker = k }\nqueue q { from = s, worker = k }\n").order == (
        "s",
        "q",
        "r",
    )
    assert order_of(tuple("dcba"), edges("ab", "ac"))[0] == tuple("dacb")


def test_one_cycle_for_each_group_from_its_first_declared_node() -> None:
    assert cycles("abcdef", "ab", "bc", "ca", "de", "ed", "cd") == ["abca", "ded"]
    assert cycles("cba", "ab", "bc", "ca") == ["cabc"]
    assert cycles("ab", "ab", "bb") == ["bb"]
    assert cycles("abcd", "ab", "bc", "cd", "da", "ca") == ["abca"]


def test_long_chains_in_either_order() -> None:
    count = 3000
    blocks = [
        f"filter f{number} {{ from = {f'f{number - 1}' if number else 's'}, where = item.name == 'x' }}\n"
        for number in range(count)
    ]
    for declared in (blocks, blocks[::-1]):
        assert flow_of("".join(declared)).order[-1] == f"f{count - 1}"


def test_files_that_declare_first_what_they_read_need_no_networkx() -> None:
    program = (
        "import sys; from wqc.diagnostics.source import Source; from wqc.pipeline import Options, check\n"
        "print(check(Source('w.wq', sys.stdin.read()), Options()).flow.order, 'networkx' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        input=HEAD + "queue q { from = s, worker = k }\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "('s', 'q') False\n"
