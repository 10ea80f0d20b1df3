"""The workflow as a graph (networkx) with the rates on its edges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wqc.model.nodes import StreamRef
from wqc.model.streams import Streams
from wqc.model.workflow import Workflow

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, slots=True)
class Edge:
    """A stream as one of its readers reads it: `stream` names what was written, whole or a member."""

    stream: StreamRef
    reader: str


@dataclass(frozen=True, slots=True)
class Flow:
    """`graph` has the nodes' names in the order declared and, per edge, its `Edge` objects (a MultiDiGraph, key `edge`).

    `rates` holds items per second by plain stream (see `Streams.expand`), absent where unknown.
    """

    workflow: Workflow
    streams: Streams
    edges: tuple[Edge, ...]
    graph: "networkx.MultiDiGraph[str]"
    rates: Mapping[StreamRef, float]
