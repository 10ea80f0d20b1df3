"""Whether every stream leads somewhere, and to one place only."""

from collections.abc import Iterator, Sequence

from wqc.checks.copiers import mended, unused_name
from wqc.diagnostics.finding import Finding, Label
from wqc.diagnostics.mistakes import graph as mistakes
from wqc.diagnostics.source import Span
from wqc.diagnostics.wording import listed
from wqc.language.written import key_place
from wqc.model.edges import Edge
from wqc.model.flow import Flow
from wqc.model.nodes import Batch, Copier, Merger, Node, Queue, Sharder, Source, Splitter, StreamRef

Readers = dict[tuple[str, str], list[Edge]]
"""Edges by the node and the output that they leave, in the order declared."""


def check_graph(flow: Flow) -> list[Finding]:
    """Nothing is said about what is missing from a workflow that isn't complete."""
    nodes = flow.workflow.nodes
    readers: Readers = {}
    for edge in flow.edges:
        readers.setdefault((edge.stream.node, edge.stream.output), []).append(edge)
    findings = [*_cycles(flow, readers), *_several_readers(flow, readers), *_dropped(flow)]
    for node in nodes.values():
        findings += _bundle(node, flow)
        if flow.workflow.complete:
            findings += _unread(node, flow, readers)
            findings += _needless(node, flow, readers)
    return findings


def _cycles(flow: Flow, readers: Readers) -> Iterator[Finding]:
    nodes = flow.workflow.nodes
    reached = _following([name for name, node in nodes.items() if isinstance(node, Source)], readers)
    for cycle in flow.cycles:
        first = cycle[0].stream.node
        path = [first, *(edge.reader for edge in cycle)]
        places = [Label(_place(edge, flow), f"`{edge.reader}` reads `{edge.stream}`") for edge in cycle]
        if first in reached or not flow.workflow.complete:
            yield mistakes.cycle(places[0].span, path, places)
        else:
            after = _following([first], readers) - reached
            lost = [name for name in nodes if name in after]
            yield mistakes.no_source(places[0].span, lost, path, places)


def _following(names: Sequence[str], readers: Readers) -> set[str]:
    """The nodes and all that their items get to."""
    ends: dict[str, list[str]] = {}
    for (start, _), edges in readers.items():
        ends.setdefault(start, []).extend(edge.reader for edge in edges)
    found, waiting = set(names), list(names)
    while waiting:
        new = [name for name in ends.get(waiting.pop(), ()) if name not in found]
        found.update(new)
        waiting += new
    return found


def _several_readers(flow: Flow, readers: Readers) -> Iterator[Finding]:
    for (name, output), edges in readers.items():
        if isinstance(flow.workflow.nodes[name], Copier):
            continue
        members = [part.member for part in flow.streams.expand(StreamRef(name, output))]
        existing = [edge for edge in edges if edge.stream.member in ("", *members)]
        for rivals in _rivals(existing):
            _, second, *_ = rivals
            others = [
                Label(_place(edge, flow), f"read by `{edge.reader}`") for edge in rivals if edge is not second
            ]
            stream = min((edge.stream for edge in rivals), key=lambda stream: bool(stream.member))
            names = [edge.reader for edge in rivals]
            blocks, instead = mended(stream, rivals, flow)
            yield mistakes.several_readers(_place(second, flow), str(stream), names, blocks, instead, others)


def _rivals(edges: Sequence[Edge]) -> Iterator[Sequence[Edge]]:
    """Those of one output's edges that share items: who reads the whole reads every member."""
    if len(edges) > 1 and any(not edge.stream.member for edge in edges):
        yield edges
        return
    for member in dict.fromkeys(edge.stream.member for edge in edges):
        same = [edge for edge in edges if edge.stream.member == member]
        if len(same) > 1:
            yield same


def _unread(node: Node, flow: Flow, readers: Readers) -> Iterator[Finding]:
    for output in flow.streams.outputs(node):
        if output == "failed" or (isinstance(node, Queue) and output == ""):
            continue
        whole = StreamRef(node.name, output, by_output=isinstance(node, Splitter))
        read = {
            part for edge in readers.get((node.name, output), ()) for part in flow.streams.expand(edge.stream)
        }
        parts = flow.streams.expand(whole)
        unread = [part for part in parts if part not in read]
        if not unread:
            continue
        place, hint = node.declaration.name_span, "read it: in a queue, a batch, a carrier or a pattern node"
        if isinstance(node, Splitter):
            if output == "otherwise":
                hint = f"read `{whole}`, or forget the items that no case takes: `otherwise = drop`"
            else:
                place = key_place(node.declaration.attributes["cases"].written, (output,))
        if len(unread) < len(parts):
            hint = f"read {listed([str(part) for part in unread])} too, or `{whole}` as a whole"
            yield mistakes.unread_stream(place, [str(part) for part in unread], hint)
        else:
            yield mistakes.unread_stream(place, [str(whole)], hint)


def _needless(node: Node, flow: Flow, readers: Readers) -> Iterator[Finding]:
    match node:
        case Merger(sources=(only,)) if not flow.streams.shape(only).members:
            yield mistakes.merger_of_one(node.declaration.name_span, str(only))
        case Copier():
            edges = readers.get((node.name, ""), [])
            if len(edges) == 1:
                (edge,) = edges
                yield mistakes.copier_of_one(
                    node.declaration.name_span, str(node.source), edge.reader, _place(edge, flow)
                )


def _bundle(node: Node, flow: Flow) -> Iterator[Finding]:
    if not isinstance(node, Sharder | Batch):
        return
    stream, block = node.source, node.declaration.block
    members = flow.streams.shape(stream).members
    if not members:
        return
    if isinstance(node, Batch):
        hint = f"let it read one of them, `{stream}.{members[0]}` say, and add a batch for each of the others"
    else:
        name = unused_name(flow.workflow, f"{stream}_merged")
        hint = (
            f"a merger makes one stream of it:\nmerger {name} {{ from = {stream} }}\n"
            f"and this {block} then reads `{name}`"
        )
    declared = flow.workflow.nodes[stream.node].declaration.name_span
    at = stream.span or node.declaration.head
    yield mistakes.bundle_not_taken(at, block, str(stream), members, hint, declared)


def _dropped(flow: Flow) -> Iterator[Finding]:
    for edge in flow.edges:
        node = flow.workflow.nodes[edge.stream.node]
        if isinstance(node, Splitter) and node.drop and edge.stream.output == "otherwise":
            yield mistakes.dropped_items_read(
                _place(edge, flow), str(edge.stream), node.declaration.span_of("otherwise")
            )


def _place(edge: Edge, flow: Flow) -> Span:
    return edge.stream.span or flow.workflow.nodes[edge.reader].declaration.head
