"""The workflow's graph, and where an item goes in it: a pure function of graph and item."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from wqc.patterns.item import Failed, Item, Pattern
from wqc.runtime.failure import failure_text

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
    """An item for a queue. `text` is its data as JSON where that isn't the data it came with."""

    queue: str
    lane: str
    name: str
    version: str
    inputs: tuple[str, ...] = ()
    """The mergers' inputs that it came through; each makes progress."""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Stuck:
    """An item that failed in a pattern node whose `.failed` nobody reads: who has it keeps it."""

    node: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Routed:
    deliveries: tuple[Delivery, ...]
    stuck: tuple[Stuck, ...]


@dataclass(slots=True)
class Graph:
    readers: dict[Port, list[Reader]] = field(default_factory=dict)

    def connect(self, port: Port, reader: Reader) -> None:
        self.readers.setdefault(port, []).append(reader)

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
        """The queues that an item of a port may reach, also through other queues, and what its name then
        begins with: it gets longer in mergers.
        """
        reached: dict[str, set[str]] = {}
        self._reach(port, "", reached)
        return reached

    def _reach(self, port: Port, prefix: str, reached: dict[str, set[str]]) -> None:
        for reader in self.readers.get(port, ()):
            longer = f"{reader.input}:{prefix}" if reader.input else prefix
            if reader.pattern is None:
                reached.setdefault(reader.node, set()).add(longer)
            for output in self._outputs(reader):
                self._reach(output, longer, reached)

    def _outputs(self, reader: Reader) -> Iterator[Port]:
        return (port for port in self.readers if port.node == reader.node)

    def route(self, ports: Sequence[Port], item: Item) -> Routed:
        """Every queue that gets the item, in the order of declaration."""
        deliveries: list[Delivery] = []
        stuck: list[Stuck] = []
        for port in ports:
            self._walk(port, item, (), None, deliveries, stuck)
        return Routed(tuple(deliveries), tuple(stuck))

    def _walk(
        self,
        port: Port,
        item: Item,
        inputs: tuple[str, ...],
        text: str | None,
        deliveries: list[Delivery],
        stuck: list[Stuck],
    ) -> None:
        for reader in self.readers.get(port, ()):
            through = (*inputs, reader.input) if reader.input else inputs
            if reader.pattern is None:
                deliveries.append(Delivery(reader.node, reader.lane, item.name, item.version, through, text))
                continue
            verdict = reader.pattern.route(item)
            if isinstance(verdict, Failed):
                failed = Port(reader.node, FAILED)
                if self.is_read(failed):
                    data = failure_text(item, verdict.reason)
                    told = Item(item.name, item.version, data.value)
                    self._walk(failed, told, through, data.text, deliveries, stuck)
                else:
                    stuck.append(Stuck(reader.node, item.name, verdict.reason))
                continue
            for sent in verdict:
                self._walk(Port(reader.node, sent.output), sent.item, through, text, deliveries, stuck)
