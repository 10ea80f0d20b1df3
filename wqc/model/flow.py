"""The workflow as a graph: who reads what, in which order, and how much of it."""

from dataclasses import dataclass

from wqc.model.edges import Edge, edges_of
from wqc.model.nodes import StreamRef
from wqc.model.order import Cycle, order_of
from wqc.model.rates import Rates, arriving, rates_of
from wqc.model.streams import Streams
from wqc.model.workflow import Workflow


@dataclass(frozen=True, slots=True)
class Flow:
    """`edges` are in the order in which their readers are declared.

    `order` has every node after all that it reads, as far as `cycles` allow, of which there is one for each
    group of nodes that are tied up in some. `rates` are items per second; nodes in a cycle, and what
    follows, have none.
    """

    workflow: Workflow
    streams: Streams
    edges: tuple[Edge, ...]
    order: tuple[str, ...]
    cycles: tuple[Cycle, ...]
    rates: Rates

    def arriving(self, stream: StreamRef) -> dict[str, float | None]:
        """Items per second, by member of the bundle that `stream` is, or under `""`; `None` where unknown."""
        return arriving(stream, self.streams, self.rates)


def flow_of(workflow: Workflow) -> Flow:
    """The graph of a workflow and the rates in it."""
    streams = Streams(workflow.nodes)
    edges = edges_of(workflow.nodes)
    order, cycles = order_of(tuple(workflow.nodes), edges)
    return Flow(workflow, streams, edges, order, cycles, rates_of(workflow.nodes, order, streams))
