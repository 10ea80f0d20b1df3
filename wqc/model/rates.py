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
    lists, and what follows.
    """
    rates: dict[StreamRef, float] = {}
    for name in order:
        node = nodes[name]
        for output in streams.outputs(node):
            share = _share(node, output)
            for member, rate in _parts(node, output, streams, rates).items():
                if rate is not None:
                    rates[StreamRef(name, output, member)] = rate * share
    return rates


def arriving(stream: StreamRef, streams: Streams, rates: Rates) -> dict[str, float | None]:
    """Items per second, by member of the bundle that `stream` is, or under `""`; `None` where unknown."""
    members = () if stream.member else streams.shape(stream).members
    if members:
        return {member: rates.get(StreamRef(stream.node, stream.output, member)) for member in members}
    return {"": _total(rates.get(part) for part in streams.expand(stream))}


def attempts_per_item(queue: Queue) -> float:
    """How often an item is worked on, in the mean, if attempts fail with the queue's `failure_rate`."""
    return sum(queue.failure_rate**attempt for attempt in range(queue.retries + 1))


def _parts(node: Node, output: str, streams: Streams, rates: Rates) -> dict[str, float | None]:
    """What is read, by member of the output that it would go to if all of it went there."""
    if isinstance(node, Source):
        rate = None if node.arrives is None else 1 / node.arrives.seconds
        return dict.fromkeys(node.members or ("",), rate)
    if isinstance(node, Sharder) and output == "":
        total = _total(arriving(node.source, streams, rates).values())
        return dict.fromkeys(node.shards, None if total is None else total / len(node.shards))
    read = [arriving(source, streams, rates) for source in inputs(node)]
    if isinstance(node, Merger | Sharder):
        return {"": _total(rate for each in read for rate in each.values())}
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
