"""The shape of every stream: its members, and what is known of its items' data."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wqc.model.nodes import (
    Batch,
    Carrier,
    Copier,
    Filter,
    Merger,
    Node,
    Queue,
    Sharder,
    Source,
    Splitter,
    StreamRef,
    inputs,
)

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """`members` is empty for a plain stream. `fields` are the known fields of `item.data`, empty where any
    may be there.

    `selectable` members can be read on their own although the whole is a plain stream: a queue's lanes.
    `known` is false
    where the members depend on a node that is missing.
    """

    members: tuple[str, ...] = ()
    fields: Fields = ()
    selectable: tuple[str, ...] = ()
    known: bool = True


class Streams:
    """Answers questions about the streams of a set of nodes; nodes may be missing (reported) and cycles are
    tolerated.
    """

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes
        self._known: dict[tuple[str, str], Shape] = {}

    def outputs(self, node: Node) -> tuple[str, ...]:
        """What can be read from a node, `""` being its own name, in the order that the documentation lists
        them.
        """
        match node:
            case Splitter():
                rest = () if node.drop else ("otherwise",)
                return (*node.cases, *rest, "failed")
            case Batch() | Carrier():
                return ()
            case Copier() | Merger():
                return ("",)
            case Source() | Queue() | Filter() | Sharder():
                return ("", "failed")

    def lanes(self, queue: Queue) -> tuple[str, ...]:
        """The members of the bundle that a queue reads; `()` for a plain stream."""
        return self.shape(queue.source).members

    def shape(self, stream: StreamRef) -> Shape:
        """The shape of what `stream` names; a member of a bundle is a plain stream."""
        whole = self._whole(stream.node, stream.output)
        return Shape((), whole.fields, (), whole.known) if stream.member else whole

    def expand(self, stream: StreamRef) -> tuple[StreamRef, ...]:
        """The plain streams that `stream` is made of: itself, or each member of the bundle (or lane) that
        it names.
        """
        if stream.member:
            return (stream,)
        whole = self._whole(stream.node, stream.output)
        parts = whole.members or whole.selectable
        return tuple(replace(stream, member=part, span=None) for part in parts) or (stream,)

    def _whole(self, name: str, output: str) -> Shape:
        if (name, output) in self._known:
            return self._known[name, output]
        # What a node reads comes first, without recursion: chains may be long.
        pending, opened = [(name, output)], set()
        while pending:
            key = pending[-1]
            node = self._nodes.get(key[0])
            if key not in self._known:
                # What a cycle sees, and whoever reads a missing node.
                self._known[key] = Shape(known=False)
                opened.add(key)
                read = [(stream.node, stream.output) for stream in inputs(node)] if node else []
                pending += [each for each in read if each not in self._known]
                continue
            pending.pop()
            if node is not None and key in opened:
                opened.remove(key)
                self._known[key] = self._compute(node, key[1])
        return self._known[name, output]

    def _compute(self, node: Node, output: str) -> Shape:
        match node:
            case Source():
                fields = node.declaration.type.fields if output == "" else ()
                return Shape(tuple(node.members), fields)
            case Queue():
                read = self.shape(node.source)
                fields = read.fields if output == "" and node.result == "none" else ()
                return Shape((), fields, read.members, read.known)
            case Sharder() if output == "":
                return Shape(tuple(node.shards), self.shape(node.source).fields)
            case Copier() | Filter() | Splitter():
                read = self.shape(node.source)
                return Shape(read.members, read.fields if output != "failed" else (), (), read.known)
            case Merger():
                every = [self.shape(source).fields for source in node.sources]
                return Shape((), every[0] if every and all(fields == every[0] for fields in every) else ())
            case _:
                return Shape()
