"""What a generated manager is written in: the workflow's nodes, and how they are joined."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, overload

from wqc.contract.expression import Param, compile_expression
from wqc.patterns.copier import Copier
from wqc.patterns.filter import Filter
from wqc.patterns.item import Pattern
from wqc.patterns.merger import Merger
from wqc.patterns.sharder import Sharder
from wqc.patterns.splitter import OTHERWISE, Splitter
from wqc.runtime.graph.graph import FAILED, Graph, Port, Reader
from wqc.runtime.graph.streams import (
    Bundle,
    Cases,
    FailingBundle,
    FailingStream,
    Part,
    QueueStream,
    Shards,
    Stream,
)

Fields = tuple[tuple[str, str], ...]
Params = Mapping[str, Param]
Ack = Literal["on_start", "on_done"]


@dataclass(frozen=True, slots=True)
class SourceNode:
    """`url` is where an ambassador serves the source; without one the manager lists it itself. `ack`: when a
    source that holds its items is told that one is done.
    """

    name: str
    url: str | None
    members: tuple[str, ...] = ()
    ack: Ack = "on_start"

    def ports(self) -> tuple[Port, ...]:
        return tuple(Port(self.name, member) for member in self.members or ("",))


class Workflow:
    """The nodes in the order of declaration. The methods are named after the language's blocks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.graph = Graph()
        self.sources: dict[str, SourceNode] = {}
        self.queues: dict[str, tuple[str, ...]] = {}
        """Each queue's lanes; `("",)` for a queue that reads a plain stream."""
        self.carriers: dict[str, str | None] = {}
        """Where an ambassador runs each; None for one that the manager runs itself."""
        self.nodes: list[str] = []

    def source(self, name: str, url: str | None = None, ack: Ack = "on_start") -> FailingStream:
        self._declare(name)
        self.sources[name] = SourceNode(name, url, ack=ack)
        return FailingStream(Port(name))

    def bundle(
        self, name: str, members: Sequence[str], url: str | None = None, ack: Ack = "on_start"
    ) -> FailingBundle:
        """A source with `each`: an ambassador serves its members at `url`/member."""
        self._declare(name)
        self.sources[name] = SourceNode(name, url, tuple(members), ack)
        streams = {member: FailingStream(Port(name, member)) for member in members}
        return FailingBundle(name, streams, shares_names=False)

    def copier(self, name: str, stream: Part) -> Part:
        self._declare(name)
        return _each(name, stream, lambda node, read: self._pattern(node, read, Copier()))

    @overload
    def filter(
        self, name: str, stream: Stream, where: str, fields: Fields = ..., params: Params | None = ...
    ) -> FailingStream: ...

    @overload
    def filter(
        self, name: str, stream: Bundle[Stream], where: str, fields: Fields = ..., params: Params | None = ...
    ) -> FailingBundle: ...

    def filter(
        self,
        name: str,
        stream: Stream | Bundle[Stream],
        where: str,
        fields: Fields = (),
        params: Params | None = None,
    ) -> FailingStream | FailingBundle:
        self._declare(name)
        pattern = Filter(compile_expression(where, fields, _params(params)))

        def connect(node: str, read: Stream) -> FailingStream:
            return FailingStream(self._pattern(node, read, pattern).port)

        if isinstance(stream, Bundle):
            kept = {member: connect(_part(name, member), each) for member, each in stream.streams.items()}
            return FailingBundle(name, kept, stream.shares_names)
        return connect(name, stream)

    def splitter(
        self,
        name: str,
        stream: Part,
        cases: Mapping[str, str],
        otherwise: Literal["drop"] | None = None,
        fields: Fields = (),
        params: Params | None = None,
    ) -> Cases[Part]:
        self._declare(name)
        known = _params(params)
        compiled = tuple((case, compile_expression(text, fields, known)) for case, text in cases.items())
        pattern = Splitter(compiled, otherwise == "drop")
        _each(name, stream, lambda node, read: self._pattern(node, read, pattern))

        def output(label: str) -> Part:
            return _each(name, stream, lambda node, _: Stream(Port(node, label)))

        return Cases(name, {case: output(case) for case in cases}, output(OTHERWISE), output(FAILED))

    def sharder(
        self,
        name: str,
        stream: Stream,
        key: str,
        shards: Sequence[str],
        fields: Fields = (),
        params: Params | None = None,
    ) -> Shards:
        self._declare(name)
        expression = compile_expression(key, fields, _params(params))
        self._pattern(name, stream, Sharder(expression, tuple(shards)))
        return Shards(name, {shard: Stream(Port(name, shard)) for shard in shards}, shares_names=True)

    def merger(self, name: str, streams: Mapping[str, Stream]) -> Stream:
        self._declare(name)
        for input, stream in streams.items():
            self._merged(name, stream, input)
        return Stream(Port(name))

    def carrier(self, name: str, stream: Stream | Bundle[Stream], url: str | None = None) -> None:
        """Publishes all members of a bundle, under names as for a queue."""
        self._declare(name)
        self.carriers[name] = url
        for _, part in self._members(name, stream):
            self.graph.connect(part.port, Reader(name))

    def queue(self, name: str, stream: Stream | Bundle[Stream]) -> QueueStream:
        """One lane per member of a bundle; items of members that share no names are called `member:name`."""
        self._declare(name)
        members = self._members(name, stream)
        for member, part in members:
            self.graph.connect(part.port, Reader(name, lane=member))
        lanes = self.queues[name] = tuple(member for member, _ in members)
        return QueueStream(Port(name), lanes if isinstance(stream, Bundle) else ())

    def run(self) -> None:
        """Run on the cluster that this process belongs to until told to stop; then exit."""
        from wqc.runtime.incluster import run_in_cluster

        sys.exit(run_in_cluster(self))

    def _members(self, name: str, stream: Stream | Bundle[Stream]) -> list[tuple[str, Stream]]:
        """What the node `name` reads, by member; `""` for a plain stream."""
        if not isinstance(stream, Bundle):
            return [("", stream)]
        return [
            (member, part if stream.shares_names else self._merged(_part(name, member), part, member))
            for member, part in stream.streams.items()
        ]

    def _pattern(self, node: str, stream: Stream, pattern: Pattern) -> Stream:
        self.graph.connect(stream.port, Reader(node, pattern))
        return Stream(Port(node))

    def _merged(self, node: str, stream: Stream, input: str) -> Stream:
        self.graph.connect(stream.port, Reader(node, Merger(input), input=input))
        return Stream(Port(node))

    def _declare(self, name: str) -> None:
        if name in self.nodes:
            raise ValueError(f"{self.name} has two nodes named {name}")
        self.nodes.append(name)


def _each(name: str, stream: Part, connect: Callable[[str, Stream], Stream]) -> Part:
    """A pattern node at work on a stream, or on each member of a bundle."""
    if isinstance(stream, Bundle):
        parts = {member: connect(_part(name, member), part) for member, part in stream.streams.items()}
        return Bundle(name, parts, stream.shares_names)
    return connect(name, stream)


def _part(name: str, member: str) -> str:
    """The node that works on one member of what the node `name` reads."""
    return f"{name}.{member}"


def _params(params: Params | None) -> tuple[tuple[str, Param], ...]:
    return tuple((params or {}).items())
