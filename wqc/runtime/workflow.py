"""What a generated manager is written in: the workflow's nodes, and how they are joined."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wqc.contract.expression import Param, compile_expression
from wqc.patterns.copier import Copier
from wqc.patterns.filter import Filter
from wqc.patterns.item import Pattern
from wqc.patterns.merger import Merger
from wqc.patterns.sharder import Sharder
from wqc.patterns.splitter import OTHERWISE, Splitter
from wqc.runtime.graph import FAILED, Graph, Port, Reader

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Stream:
    """An ordered listing of items."""

    port: Port


@dataclass(frozen=True, slots=True)
class FailingStream(Stream):
    """A stream whose node can fail an item."""

    @property
    def failed(self) -> Stream:
        output = f"{self.port.output}.{FAILED}" if self.port.output else FAILED
        return Stream(Port(self.port.node, output))


@dataclass(frozen=True, slots=True)
class Bundle:
    """Several streams of one shape under one name."""

    node: str
    members: tuple[str, ...]

    def __getitem__(self, member: str) -> Stream:
        if member not in self.members:
            raise KeyError(f"{self.node} has no member {member}, but {', '.join(self.members)}")
        return Stream(Port(self.node, member))

    @property
    def failed(self) -> Stream:
        return Stream(Port(self.node, FAILED))


@dataclass(frozen=True, slots=True)
class Cases(Bundle):
    """A splitter's streams."""

    @property
    def otherwise(self) -> Stream:
        return Stream(Port(self.node, OTHERWISE))


@dataclass(frozen=True, slots=True)
class QueueStream(FailingStream):
    """A queue's finished items; by lane where it reads a bundle."""

    lanes: tuple[str, ...] = ()

    def __getitem__(self, lane: str) -> FailingStream:
        if lane not in self.lanes:
            raise KeyError(f"{self.port.node} has no lane {lane}")
        return FailingStream(Port(self.port.node, lane))


@dataclass(frozen=True, slots=True)
class SourceNode:
    """`url` is where an ambassador serves the source; without one the manager lists it itself."""

    name: str
    url: str | None
    members: tuple[str, ...] = ()

    def ports(self) -> tuple[Port, ...]:
        return tuple(Port(self.name, member) for member in self.members or ("",))


class Unsupported(Exception):
    """The workflow has a node that this version can't run."""


class Workflow:
    """The nodes in the order of declaration. The methods are named after the language's blocks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.graph = Graph()
        self.sources: dict[str, SourceNode] = {}
        self.queues: dict[str, tuple[str, ...]] = {}
        """Each queue's lanes; `("",)` for a queue that reads a plain stream."""
        self.nodes: list[str] = []

    def source(self, name: str, url: str | None = None) -> FailingStream:
        self._declare(name)
        self.sources[name] = SourceNode(name, url)
        return FailingStream(Port(name))

    def bundle(self, name: str, members: Sequence[str], url: str | None = None) -> Bundle:
        """A source with `each`: an ambassador serves its members at `url`/member."""
        self._declare(name)
        self.sources[name] = SourceNode(name, url, tuple(members))
        return Bundle(name, tuple(members))

    def copier(self, name: str, stream: Stream) -> Stream:
        self._pattern(name, stream, Copier())
        return Stream(Port(name))

    def filter(
        self,
        name: str,
        stream: Stream,
        where: str,
        fields: Fields = (),
        params: Mapping[str, Param] | None = None,
    ) -> FailingStream:
        self._pattern(name, stream, Filter(compile_expression(where, fields, _params(params))))
        return FailingStream(Port(name))

    def splitter(
        self,
        name: str,
        stream: Stream,
        cases: Mapping[str, str],
        otherwise: Literal["drop"] | None = None,
        fields: Fields = (),
        params: Mapping[str, Param] | None = None,
    ) -> Cases:
        known = _params(params)
        compiled = tuple((case, compile_expression(text, fields, known)) for case, text in cases.items())
        self._pattern(name, stream, Splitter(compiled, otherwise == "drop"))
        return Cases(name, tuple(cases))

    def sharder(
        self,
        name: str,
        stream: Stream,
        key: str,
        shards: Sequence[str],
        fields: Fields = (),
        params: Mapping[str, Param] | None = None,
    ) -> Bundle:
        expression = compile_expression(key, fields, _params(params))
        self._pattern(name, stream, Sharder(expression, tuple(shards)))
        return Bundle(name, tuple(shards))

    def merger(self, name: str, streams: Mapping[str, Stream]) -> Stream:
        self._declare(name)
        for source, stream in streams.items():
            self.graph.connect(stream.port, Reader(name, Merger(source), input=source))
        return Stream(Port(name))

    def carrier(self, name: str, stream: Stream, url: str | None = None) -> None:
        """Raises Unsupported."""
        raise Unsupported(f"{self.name}: this version runs no carriers, and {name} is one")

    def queue(self, name: str, stream: Stream | Bundle) -> QueueStream:
        """One lane per member of a bundle."""
        self._declare(name)
        if isinstance(stream, Bundle):
            for member in stream.members:
                self.graph.connect(stream[member].port, Reader(name, lane=member))
            self.queues[name] = stream.members
            return QueueStream(Port(name), stream.members)
        self.graph.connect(stream.port, Reader(name))
        self.queues[name] = ("",)
        return QueueStream(Port(name))

    def run(self) -> None:
        """Run on the cluster that this process belongs to until told to stop; then exit."""
        from wqc.runtime.incluster import run_in_cluster

        sys.exit(run_in_cluster(self))

    def _pattern(self, name: str, stream: Stream, pattern: Pattern) -> None:
        self._declare(name)
        self.graph.connect(stream.port, Reader(name, pattern))

    def _declare(self, name: str) -> None:
        if name in self.nodes:
            raise ValueError(f"{self.name} has two nodes named {name}")
        self.nodes.append(name)


def _params(params: Mapping[str, Param] | None) -> tuple[tuple[str, Param], ...]:
    return tuple((params or {}).items())
