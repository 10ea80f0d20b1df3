"""The copier to write where a stream has several readers."""

from collections.abc import Sequence
from dataclasses import replace

from wqc.model.edges import Edge
from wqc.model.flow import Flow
from wqc.model.nodes import StreamRef
from wqc.model.workflow import Workflow

Mended = tuple[list[str], list[tuple[str, str]]]


def mended(stream: StreamRef, rivals: Sequence[Edge], flow: Flow) -> Mended:
    """The blocks to add, and for each reader what it then reads. `stream` is what all of it is part of."""
    lanes = flow.streams.shape(stream).selectable
    if any(edge.stream.member in lanes for edge in rivals):
        return _with_lanes(stream, rivals, lanes, flow)
    copier = unused_name(flow.workflow, f"{stream}_copies")
    instead = []
    for edge in rivals:
        member = "" if stream.member or not edge.stream.member else f".{edge.stream.member}"
        instead.append((edge.reader, f"{copier}{member}"))
    return [f"copier {copier} {{ from = {stream} }}"], instead


def _with_lanes(stream: StreamRef, rivals: Sequence[Edge], lanes: Sequence[str], flow: Flow) -> Mended:
    """A copy of a queue's whole output has no lanes: they are copied one by one, and put together again."""
    blocks, parts, copiers = [], [], {}
    for lane in lanes:
        part = str(replace(stream, member=lane))
        if any(edge.stream.member == lane for edge in rivals):
            copiers[lane] = unused_name(flow.workflow, f"{part}_copies")
            blocks.append(f"copier {copiers[lane]} {{ from = {part} }}")
        parts.append(copiers.get(lane, part))
    merger = unused_name(flow.workflow, f"{stream}_merged")
    blocks.append(f"merger {merger} {{ from = [{', '.join(parts)}] }}")
    return blocks, [(edge.reader, copiers.get(edge.stream.member, merger)) for edge in rivals]


def unused_name(workflow: Workflow, wish: str) -> str:
    """A name like `wish` that the workflow doesn't have yet."""
    wish = wish.replace(".", "_")
    taken = {*workflow.nodes, *workflow.workers, *(name for name, _ in workflow.params)}
    return next(
        name
        for name in (wish, *(f"{wish}_{number}" for number in range(2, len(taken) + 3)))
        if name not in taken
    )
