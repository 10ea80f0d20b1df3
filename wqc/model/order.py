"""In which order items pass the nodes, and where they would go round in circles."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from wqc.model.edges import Edge

Cycle = tuple[Edge, ...]
"""The first edge leaves the cycle's first-declared node, the last one comes back to it."""


def order_of(names: Sequence[str], edges: Iterable[Edge]) -> tuple[tuple[str, ...], tuple[Cycle, ...]]:
    """The nodes, each after all that it reads as far as cycles allow; a cycle of each group that is tied up.

    `names` are in the order declared, which decides wherever several orders or cycles would do.
    """
    place = {name: number for number, name in enumerate(names)}
    between: dict[tuple[str, str], Edge] = {}
    for edge in edges:
        between.setdefault((edge.stream.node, edge.reader), edge)
    if all(place[start] < place[end] for start, end in between):
        # The usual file declares first what it reads, and is spared the import.
        return tuple(names), ()

    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(between)
    groups = [sorted(group, key=place.__getitem__) for group in networkx.strongly_connected_components(graph)]
    groups.sort(key=lambda group: place[group[0]])
    sequence = networkx.lexicographical_topological_sort(networkx.condensation(graph, groups))
    order = tuple(name for number in sequence for name in groups[number])

    cycles: list[Cycle] = []
    for first, *rest in groups:
        ways = networkx.single_source_shortest_path(graph.subgraph([first, *rest]), first)
        back = [ways[name] for name in (first, *rest) if graph.has_edge(name, first)]
        if back:
            path = [*min(back, key=len), first]
            cycles.append(tuple(between[step] for step in pairwise(path)))
    return order, tuple(cycles)
