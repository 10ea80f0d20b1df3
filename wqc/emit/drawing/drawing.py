"""What there is to draw of a workflow: boxes, and arrows with the rates on them."""

from collections.abc import Iterable
from dataclasses import dataclass

from wqc.diagnostics.finding import Finding, Level
from wqc.language.declaration import Declaration
from wqc.model.flow import Flow
from wqc.model.nodes import Batch, Node, Queue, Sharder, Source


@dataclass(frozen=True, slots=True)
class Box:
    """A node; `size` says how many items at a time, `findings` are those that point into its block."""

    name: str
    block: str
    kind: str
    size: str
    findings: tuple[Finding, ...]

    @property
    def detail(self) -> str:
        """What it is, in one line."""
        return ", ".join(filter(None, (f"{self.block} {self.kind}".strip(), self.size)))

    @property
    def codes(self) -> tuple[str, ...]:
        """Of its findings, each once."""
        return tuple(dict.fromkeys(f"{finding.level.value}[{finding.code}]" for finding in self.findings))

    @property
    def worst(self) -> Level | None:
        """Of its findings' levels."""
        return next((level for level in Level if any(found.level is level for found in self.findings)), None)


@dataclass(frozen=True, slots=True)
class Arrow:
    """A stream and a reader of it. `output` is what is read of `start`, empty for all that it puts out.

    `rate` is in items per second, `None` where unknown.
    """

    start: str
    end: str
    output: str
    rate: float | None


@dataclass(frozen=True, slots=True)
class Drawing:
    """`boxes` are in the order declared; no arrow misses its ends."""

    workflow: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def drawing(flow: Flow, findings: Iterable[Finding]) -> Drawing:
    """All nodes and edges of a flow."""
    nodes = flow.workflow.nodes
    found = list(findings)
    boxes = tuple(_box(node, flow, found) for node in nodes.values())
    arrows = []
    for edge in flow.edges:
        if edge.stream.node in nodes:
            rates = flow.arriving(edge.stream).values()
            rate = None if None in rates else sum(rate for rate in rates if rate is not None)
            output = str(edge.stream).removeprefix(edge.stream.node).removeprefix(".")
            arrows.append(Arrow(edge.stream.node, edge.reader, output, rate))
    return Drawing(flow.workflow.name, boxes, tuple(arrows))


def rate_words(rate: float | None) -> str:
    """`2/s`, `12.5/min`, `1/h`: three digits, in the first unit that makes it one or more."""
    if rate is None:
        return "?"
    units = {"s": 1, "min": 60, "h": 3600, "d": 86400}
    unit = next((unit for unit, seconds in units.items() if rate * seconds >= 1), "d" if rate else "s")
    number = rate * units[unit]
    return f"{number:.3g}/{unit}" if number < 999.5 else f"{number:,.0f}/{unit}"


def _box(node: Node, flow: Flow, findings: Iterable[Finding]) -> Box:
    declared = node.declaration
    return Box(node.name, declared.block, declared.kind, _size(node, flow), _within(declared, findings))


def _size(node: Node, flow: Flow) -> str:
    match node:
        case Queue() if lanes := flow.streams.lanes(node):
            return f"{len(lanes)} lanes of {node.parallelism}"
        case Source() if node.members:
            return f"{len(node.members)} members"
        case Sharder():
            return f"{len(node.shards)} shards"
        case Queue() | Batch():
            return f"parallelism {node.parallelism}"
        case _:
            return ""


def _within(declaration: Declaration, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    source, start = declaration.head.source, declaration.head.start
    spans = [given.span for given in declaration.attributes.values()]
    end = max([declaration.head.end, *(span.end for span in spans if span.source is source)])
    return tuple(
        finding for finding in findings if finding.span.source is source and start <= finding.span.start < end
    )
