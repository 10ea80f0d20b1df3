"""`manager.py`: the workflow's nodes and how they are joined, one statement each."""

import builtins
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from wqc.contract.expression import Param
from wqc.emit.encoded import Encoded
from wqc.emit.placement import Placement
from wqc.emit.python_text import literal
from wqc.language.values import Condition
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
from wqc.model.streams import Streams
from wqc.model.workflow import Workflow

_FIELD = re.compile(r"\bitem\.data\.([A-Za-z_][A-Za-z0-9_]*)")
_PARAM = re.compile(r"\bparam\.([A-Za-z_][A-Za-z0-9_.]*)")
_TAKEN = {*keyword.kwlist, *dir(builtins), "workflow", "l", "o"}


class Statement(NamedTuple):
    """`variable = workflow.method(*positional, **keywords)`; without a variable, the call alone."""

    variable: Encoded
    method: Encoded
    positional: tuple[object, ...]
    keywords: Mapping[str, object]


class Program(NamedTuple):
    workflow: str
    origin: str
    statements: tuple[Statement, ...]


def program(workflow: Workflow, streams: Streams, placement: Placement, origin: str) -> Program:
    """`origin` is the name of the `.wq` file."""
    writer = _Writer(workflow, streams, placement)
    return Program(workflow.name, origin, tuple(writer.statements()))


def variable(name: str) -> Encoded:
    """The name, made one that Python doesn't use itself: no name of the language ends with `_`."""
    return Encoded(f"{name}_" if name in _TAKEN else name)


def in_order(nodes: Mapping[str, Node]) -> list[Node]:
    """Every node after those it reads from; the order of declaration where that doesn't matter."""
    names = list(nodes)
    place = {name: index for index, name in enumerate(names)}
    waiting: dict[str, int] = {}
    readers: dict[str, list[str]] = {}
    for name, node in nodes.items():
        read = {stream.node for stream in inputs(node)} & place.keys()
        waiting[name] = len(read)
        for other in read:
            readers.setdefault(other, []).append(name)
    ready = [place[name] for name, count in waiting.items() if not count]
    heapify(ready)
    ordered: list[Node] = []
    while ready:
        name = names[heappop(ready)]
        ordered.append(nodes[name])
        for reader in readers.get(name, ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                heappush(ready, place[reader])
    return ordered


@dataclass(frozen=True, slots=True)
class _Writer:
    workflow: Workflow
    streams: Streams
    placement: Placement

    def statements(self) -> Iterator[Statement]:
        served = {node.name for node in self.placement.inside}
        served |= {node.name for ambassador in self.placement.ambassadors for node in ambassador.nodes}
        for node in in_order(self.workflow.nodes):
            if isinstance(node, Batch) or (isinstance(node, Source) and node.name not in served):
                continue
            yield self._statement(node)

    def _statement(self, node: Node) -> Statement:
        match node:
            case Source():
                return self._source(node)
            case Copier():
                return _call(node.name, "copier", (self._stream(node.source),))
            case Filter():
                keywords = {"where": node.where.text} | self._known(node.source, node.where)
                return _call(node.name, "filter", (self._stream(node.source),), keywords)
            case Splitter():
                return self._splitter(node)
            case Sharder():
                keywords = {"key": node.key.text, "shards": tuple(node.shards)} | self._known(
                    node.source, node.key
                )
                return _call(node.name, "sharder", (self._stream(node.source),), keywords)
            case Merger():
                return _call(node.name, "merger", (self._inputs(node),))
            case Queue():
                return _call(node.name, "queue", (self._stream(node.source),))
            case Carrier():
                url = self.placement.url(node)
                keywords = {"url": url} if url else {}
                positional = (node.name, self._stream(node.source))
                return Statement(Encoded(""), Encoded("carrier"), positional, keywords)
            case Batch():
                raise TypeError("a batch is no part of the manager")

    def _source(self, node: Source) -> Statement:
        url = self.placement.url(node)
        keywords: dict[str, object] = {"members": tuple(node.members)} if node.members else {}
        if url:
            keywords["url"] = url
        options = next(iter(node.members.values()), node.options)
        if options.get("ack", "on_start") != "on_start":
            keywords["ack"] = options["ack"]
        return _call(node.name, "bundle" if node.members else "source", (), keywords)

    def _splitter(self, node: Splitter) -> Statement:
        cases = {case: condition.text for case, condition in node.cases.items()}
        keywords: dict[str, object] = {"cases": cases}
        if node.drop:
            keywords["otherwise"] = "drop"
        keywords |= self._known(node.source, *node.cases.values())
        return _call(node.name, "splitter", (self._stream(node.source),), keywords)

    def _inputs(self, node: Merger) -> dict[str, Encoded]:
        """An input is named after its member where one bundle is merged, else as it is written."""
        bundle = len(node.sources) == 1
        return {
            part.member if bundle and part.member else str(part): self._stream(part)
            for source in node.sources
            for part in self.streams.expand(source)
        }

    def _stream(self, stream: StreamRef) -> Encoded:
        """`channel["email"]`, `verify["a"].failed`, `channel.failed["a"]`."""
        splits = isinstance(self.workflow.nodes[stream.node], Splitter)
        text = variable(stream.node)
        outputs_first = splits or stream.output != "failed"
        for step in (stream.output, stream.member) if outputs_first else (stream.member, stream.output):
            attribute = step == "failed" or (step == "otherwise" and splits)
            if step:
                text = Encoded(f"{text}.{step}" if attribute else f"{text}[{literal(step)}]")
        return text

    def _known(self, stream: StreamRef, *conditions: Condition) -> dict[str, object]:
        """The fields and params that the conditions mention."""
        text = " ".join(condition.text for condition in conditions)
        fields = set(_FIELD.findall(text))
        names = set(_PARAM.findall(text))
        types = tuple((name, type) for name, type in self.streams.shape(stream).fields if name in fields)
        params: dict[str, Param] = {name: value for name, value in self.workflow.params if name in names}
        return {key: value for key, value in (("fields", types), ("params", params)) if value}


def _call(
    name: str, method: str, positional: tuple[object, ...], keywords: Mapping[str, object] | None = None
) -> Statement:
    return Statement(variable(name), Encoded(method), (name, *positional), keywords or {})
