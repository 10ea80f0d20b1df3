"""Items per second on every stream, worked out from what the sources, shares and failure rates say."""

from collections.abc import Iterable, Mapping

from wqc.model.nodes import Copier, Filter, Merger, Node, Queue, Sharder, Source, Splitter, StreamRef, inputs
from wqc.model.streams import Streams

Rates = Mapping[StreamRef, float]
"""By plain stream (see `Streams.expand`), in the order computed; absent where unknown."""


def rates_of(nodes: Mapping[str, Node], order: Iterable[str], streams: Streams) -> Rates:
    """The rates of everything that the nodes put out; `order` has a node after all that it reads.

    Items fail in a queue as its `failure_rate` says, and never in another node. A splitter's cases are
    taken to exclude each other as far as their shares allow. Unknown is what a source without `arrives`
    lists, and what follows; only a list in the file itself gets no new items.
    """
    starts = {
        name: dict.fromkeys(node.members or ("",), _arrivals(node))
        for name, node in nodes.items()
        if isinstance(node, Source)
    }
    return _spread(nodes, order, streams, starts)


def backlog_of(nodes: Mapping[str, Node], order: Iterable[str], streams: Streams) -> Rates:
    """How many items are known to wait at the start, before any queue has worked."""
    starts: dict[str, Mapping[str, float | None]] = {}
    for name, node in nodes.items():
        if isinstance(node, Source):
            options = node.members or {"": node.options}
            starts[name] = {member: float(len(given.get("items", ()))) for member, given in options.items()}
        elif isinstance(node, Queue):
            starts[name] = dict.fromkeys(streams.lanes(node) or ("",), 0.0)
    return _spread(nodes, order, streams, starts)


def arriving(stream: StreamRef, streams: Streams, rates: Rates) -> dict[str, float | None]:
    """Items per second, by member of the bundle that `stream` is, or under `""`; `None` where unknown."""
    members = () if stream.member else streams.shape(stream).members
    if members:
        return {member: rates.get(StreamRef(stream.node, stream.output, member)) for member in members}
    return {"": _total(rates.get(part) for part in streams.expand(stream))}


def attempts_per_item(queue: Queue) -> float:
    """How often an item is worked on, in the mean, if attempts fail with the queue's `failure_rate`."""
    return sum(queue.failure_rate**attempt for attempt in range(queue.retries + 1))


def _arrivals(source: Source) -> float | None:
    if source.arrives is not None:
        return 1 / source.arrives.seconds
    return 0.0 if source.kind == "items" else None


def _spread(
    nodes: Mapping[str, Node],
    order: Iterable[str],
    streams: Streams,
    starts: Mapping[str, Mapping[str, float | None]],
) -> dict[StreamRef, float]:
    """What gets to every stream. `starts` has, by member, what nodes put out whatever they read."""
    amounts: dict[StreamRef, float] = {}
    for name in order:
        node = nodes[name]
        for output in streams.outputs(node):
            parts = starts[name] if name in starts else _parts(node, output, streams, amounts)
            share = _share(node, output)
            for member, amount in parts.items():
                if amount is not None:
                    amounts[StreamRef(name, output, member)] = amount * share
    return amounts


def _parts(node: Node, output: str, streams: Streams, amounts: Rates) -> dict[str, float | None]:
    """What is read, by member of the output that it would go to if all of it went there."""
    if isinstance(node, Sharder) and output == "":
        total = _total(arriving(node.source, streams, amounts).values())
        return dict.fromkeys(node.shards, None if total is None else total / len(node.shards))
    read = [arriving(source, streams, amounts) for source in inputs(node)]
    if isinstance(node, Merger | Sharder):
        return {"": _total(amount for each in read for amount in each.values())}
    return read[0]


def _share(node: Node, output: str) -> float:
    """The part of what is read that goes to `output`."""
    match node:
        case Queue():
            failed: float = node.failure_rate ** (node.retries + 1)
            return failed if output == "failed" else 1 - failed
        case Splitter() if output in node.cases:
            return node.share[output]
        case Splitter() if output == "otherwise":
            return max(0.0, 1 - sum(node.share.values()))
        case Filter() if output == "":
            return node.share
        case Source() | Copier() | Sharder() | Merger() if output == "":
            return 1.0
        case _:
            return 0.0


def _total(rates: Iterable[float | None]) -> float | None:
    total = 0.0
    for rate in rates:
        if rate is None:
            return None
        total += rate
    return total
