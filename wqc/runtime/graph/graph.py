"""The workflow's graph, and where an item goes in it: a pure function of graph and item."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from wqc.patterns.item import Failed, Item, Pattern
from wqc.runtime.queue.failure import failure_text

FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Port:
    """One output of a node: `""`, a case, a member or lane, `failed`, or `lane.failed`."""

    node: str
    output: str = ""

    def __str__(self) -> str:
        return f"{self.node}.{self.output}" if self.output else self.node


def failed_port(port: Port) -> Port:
    """Where the items go that a node fails, or a member or lane of it."""
    return Port(port.node, f"{port.output}.{FAILED}" if port.output else FAILED)


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a port: a pattern node, or (without a pattern) a queue's lane."""

    node: str
    pattern: Pattern | None = None
    lane: str = ""
    input: str = ""
    """The merger's input that this is."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """An item for a queue, or for the holder of what failed in a node whose `.failed` nobody reads.

    `text` is its data as JSON where that isn't the data it came with.
    """

    station: str
    """The queue, or the node."""
    lane: str
    name: str
    version: str
    inputs: tuple[str, ...] = ()
    """The mergers' inputs that it came through; each makes progress."""
    text: str | None = None
    failure: str = ""
    """Why it failed in the node."""


@dataclass(frozen=True, slots=True)
class Line:
    """Where items wait that came the same way; see Delivery."""

    station: str
    lane: str
    inputs: tuple[str, ...] = ()


@dataclass(slots=True)
class Graph:
    readers: dict[Port, list[Reader]] = field(default_factory=dict)

    def connect(self, port: Port, reader: Reader) -> None:
        self.readers.setdefault(port, []).append(reader)

    def has_pattern(self, node: str) -> bool:
        """It is a pattern node, or a member of one."""
        return any(
            each.node == node and each.pattern for readers in self.readers.values() for each in readers
        )

    def is_read(self, port: Port) -> bool:
        return port in self.readers

    def reads_data(self, port: Port) -> bool:
        """Whether a verdict between here and the next queues depends on an item's data."""
        for reader in self.readers.get(port, ()):
            if reader.pattern and (
                reader.pattern.reads_data or any(map(self.reads_data, self._outputs(reader)))
            ):
                return True
        return False

    def prefixes(self, port: Port) -> dict[str, set[str]]:
        """The queues and pattern nodes that an item of a port may reach, also through other queues, and
        what its name then begins with: it gets longer in mergers.
        """
        reached: dict[str, set[str]] = {}
        self._reach(port, "", reached)
        return reached

    def _reach(self, port: Port, prefix: str, reached: dict[str, set[str]]) -> None:
        for reader in self.readers.get(port, ()):
            longer = f"{reader.input}:{prefix}" if reader.input else prefix
            reached.setdefault(reader.node, set()).add(longer if reader.pattern is None else prefix)
            for output in self._outputs(reader):
                self._reach(output, longer, reached)

    def _outputs(self, reader: Reader) -> Iterator[Port]:
        return (port for port in self.readers if port.node == reader.node)

    def nearest(self, port: Port) -> tuple[str, ...]:
        """The stations that an item of a port comes to first, in the order of declaration."""
        return tuple(dict.fromkeys(line.station for line in self.lines(port)))

    def lines(self, port: Port, inputs: tuple[str, ...] = ()) -> tuple[Line, ...]:
        """Where an item of a port may wait first. `inputs`: those that it came through already."""
        found: dict[Line, None] = {}
        for reader in self.readers.get(port, ()):
            through = (*inputs, reader.input) if reader.input else inputs
            if reader.pattern is None:
                found[Line(reader.node, reader.lane, through)] = None
            else:
                ways = (self.lines(each, through) for each in self._outputs(reader))
                found |= dict.fromkeys(chain.from_iterable(ways))
        return tuple(found)

    def holding(self, ports: Iterable[Port]) -> tuple[str, ...]:
        """The nodes between these ports and the next queues that may fail an item, and whose `.failed`
        nobody reads, in the order of declaration.
        """
        found: dict[str, None] = {}
        for port in ports:
            for reader in self.readers.get(port, ()):
                if reader.pattern is None:
                    continue
                if reader.pattern.reads_data and not self.is_read(Port(reader.node, FAILED)):
                    found[reader.node] = None
                found |= dict.fromkeys(self.holding(self._outputs(reader)))
        return tuple(found)

    def route(self, ports: Sequence[Port], item: Item) -> tuple[Delivery, ...]:
        """Everyone who gets the item, in the order of declaration."""
        deliveries: list[Delivery] = []
        for port in ports:
            self._walk(port, item, (), None, deliveries)
        return tuple(deliveries)

    def fail(self, port: Port, item: Item, reason: str) -> tuple[Delivery, ...]:
        """As `route`, for an item that failed in a source already; its data says so."""
        if self.is_read(failed_port(port)):
            return self.route([failed_port(port)], item)
        return (Delivery(str(port), "", item.name, item.version, failure=reason),)

    def again(self, node: str, item: Item) -> tuple[Delivery, ...]:
        """As `route`, for an item that failed in a pattern node and enters it once more."""
        deliveries: list[Delivery] = []
        for readers in self.readers.values():
            for reader in readers:
                if reader.node == node and reader.pattern:
                    self._pass(reader, reader.pattern, item, (), None, deliveries)
        return tuple(deliveries)

    def _walk(
        self, port: Port, item: Item, inputs: tuple[str, ...], text: str | None, found: list[Delivery]
    ) -> None:
        for reader in self.readers.get(port, ()):
            through = (*inputs, reader.input) if reader.input else inputs
            if reader.pattern:
                self._pass(reader, reader.pattern, item, through, text, found)
            else:
                found.append(Delivery(reader.node, reader.lane, item.name, item.version, through, text))

    def _pass(
        self,
        reader: Reader,
        pattern: Pattern,
        item: Item,
        inputs: tuple[str, ...],
        text: str | None,
        found: list[Delivery],
    ) -> None:
        verdict = pattern.route(item)
        if not isinstance(verdict, Failed):
            for sent in verdict:
                self._walk(Port(reader.node, sent.output), sent.item, inputs, text, found)
            return
        failed = Port(reader.node, FAILED)
        if self.is_read(failed):
            data = failure_text(item, verdict.reason)
            self._walk(failed, Item(item.name, item.version, data.value), inputs, data.text, found)
        else:
            held = Delivery(reader.node, "", item.name, item.version, inputs, text, verdict.reason)
            found.append(held)
