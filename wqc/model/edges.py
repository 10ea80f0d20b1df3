"""Who reads what."""

from collections.abc import Mapping
from dataclasses import dataclass

from wqc.model.nodes import Node, StreamRef, inputs


@dataclass(frozen=True, slots=True)
class Edge:
    """A stream as one of its readers reads it: `stream` names what was written, whole or a member."""

    stream: StreamRef
    reader: str


def edges_of(nodes: Mapping[str, Node]) -> tuple[Edge, ...]:
    """In the order in which the readers are declared; none from a node that is missing (reported)."""
    return tuple(
        Edge(stream, node.name) for node in nodes.values() for stream in inputs(node) if stream.node in nodes
    )
