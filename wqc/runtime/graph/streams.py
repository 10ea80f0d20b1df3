"""What a generated manager holds in its variables: streams, and bundles of them (decisions/bundles.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from wqc.runtime.graph.graph import FAILED, Port, failed_port


@dataclass(frozen=True, slots=True)
class Stream:
    """An ordered listing of items."""

    port: Port


@dataclass(frozen=True, slots=True)
class FailingStream(Stream):
    """A stream whose node can fail an item."""

    @property
    def failed(self) -> Stream:
        return Stream(failed_port(self.port))


S_co = TypeVar("S_co", bound=Stream, covariant=True)


@dataclass(frozen=True, slots=True)
class Bundle(Generic[S_co]):
    """Several streams of one shape under one name."""

    node: str
    streams: Mapping[str, S_co]
    """By member."""
    shares_names: bool
    """No two members have an item of the same name, as it is after a sharder."""

    def __getitem__(self, member: str) -> S_co:
        return _named(self.node, "member", self.streams, member)


@dataclass(frozen=True, slots=True)
class FailingBundle(Bundle[FailingStream]):
    """A bundle of streams whose nodes can fail an item."""

    @property
    def failed(self) -> Bundle[Stream]:
        failed = {member: stream.failed for member, stream in self.streams.items()}
        return Bundle(self.node, failed, self.shares_names)


@dataclass(frozen=True, slots=True)
class Shards(Bundle[Stream]):
    """A sharder's streams."""

    @property
    def failed(self) -> Stream:
        return Stream(Port(self.node, FAILED))


Part = TypeVar("Part", Stream, Bundle[Stream])


@dataclass(frozen=True, slots=True)
class Cases(Generic[Part]):
    """A splitter's streams; where it reads a bundle, each is a bundle with the same members."""

    node: str
    cases: Mapping[str, Part]
    otherwise: Part
    failed: Part

    def __getitem__(self, case: str) -> Part:
        return _named(self.node, "case", self.cases, case)


@dataclass(frozen=True, slots=True)
class QueueStream(FailingStream):
    """A queue's finished items; by lane where it reads a bundle."""

    lanes: tuple[str, ...] = ()

    def __getitem__(self, lane: str) -> FailingStream:
        return _named(
            self.port.node,
            "lane",
            {each: FailingStream(Port(self.port.node, each)) for each in self.lanes},
            lane,
        )


T = TypeVar("T")


def _named(node: str, what: str, parts: Mapping[str, T], name: str) -> T:
    if name not in parts:
        raise KeyError(f"{node} has no {what} {name}, but {', '.join(parts) or 'none'}")
    return parts[name]
