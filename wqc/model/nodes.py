"""What the names of a workflow mean: its workers and the nodes of its graph.

Every node keeps its `Declaration`, for the places that messages point at.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from wqc.diagnostics.source import Span
from wqc.language.declaration import Declaration
from wqc.language.values import (
    Cidr,
    Condition,
    ConfigMap,
    Cpu,
    Duration,
    Memory,
    Nodes,
    Pvc,
    Range,
    Raw,
    Secret,
)

Environment = Mapping[str, str | Secret | ConfigMap]
Mounts = Mapping[str, Pvc | Secret | ConfigMap]


@dataclass(frozen=True, slots=True)
class StreamRef:
    """An edge's start: an output of a node (`""` its own, `failed`, `otherwise` or a splitter's case) and a
    member of it.

    `member` is `""` for the whole stream or bundle. `span` is where it was written. `by_output`: the node has
    streams by output, of each of which there are members, as a splitter has: `cut.failed.web`.
    """

    node: str
    output: str = ""
    member: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)
    by_output: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        # elsewhere the member is what there are streams by: verify.a.failed
        member_first = self.output == "failed" and not self.by_output
        order = (self.member, self.output) if member_first else (self.output, self.member)
        return ".".join((self.node, *(part for part in order if part)))


@dataclass(frozen=True, slots=True)
class Worker:
    """A container that handles one item; with a `pipeline`, several one after the other, and then no image
    of its own.

    `name` is as written by those who use it (`lib.fetch`). `takes` is the sum over a pipeline unless stated.
    """

    name: str
    declaration: Declaration
    image: str = ""
    command: tuple[str, ...] = ()
    run: str = ""
    pipeline: "tuple[Worker, ...]" = ()
    input: Literal["file", "stdin"] = "file"
    env: Environment = field(default_factory=dict)
    mounts: Mounts = field(default_factory=dict)
    cpu: Range[Cpu] | None = None
    memory: Range[Memory] | None = None
    resources: Mapping[str, int] = field(default_factory=dict)
    scratch: Memory = Memory(1 << 30)
    takes: Duration | None = None
    user: int = 10001
    writable_root: bool = False
    profile: Literal["restricted", "baseline", "privileged"] = "restricted"
    egress: tuple[Cidr, ...] | Literal["any", "none"] = "any"
    pod: Mapping[str, Raw] = field(default_factory=dict)

    @property
    def steps(self) -> "tuple[Worker, ...]":
        """The containers in order: those of the pipeline, or itself."""
        return self.pipeline or (self,)


@dataclass(frozen=True, slots=True)
class Source:
    """Where items come from. `options` are the kind's attributes as typed, without `each`, `arrives`, `cpu`
    and `memory`.

    A bundle has one set of options per member in `members`, and `options` is then empty.
    """

    name: str
    declaration: Declaration
    kind: str
    options: Mapping[str, Any]
    members: Mapping[str, Mapping[str, Any]]
    arrives: Duration | None
    cpu: Range[Cpu]
    memory: Range[Memory]


@dataclass(frozen=True, slots=True)
class Queue:
    name: str
    declaration: Declaration
    source: StreamRef
    worker: Worker
    parallelism: Range[int]
    retries: int
    timeout: Duration | None
    env: Environment
    takes: Duration | None
    result: Literal["required", "optional", "none"]
    rework: Literal["never", "on_change"]
    poison: tuple[int, ...]
    deadline: Duration
    failure_rate: float
    handover: int
    failed_limit: int
    keep: Duration
    place: Nodes | None
    paused: bool
    formerly: str


@dataclass(frozen=True, slots=True)
class Batch:
    """`completions` is `None` where they are measured."""

    name: str
    declaration: Declaration
    kind: Literal["coarse", "fine"]
    source: StreamRef
    worker: Worker
    parallelism: int
    completions: int | None
    retries: int
    timeout: Duration | None
    env: Environment
    takes: Duration | None
    wait: Duration
    place: Nodes | None
    run: str


@dataclass(frozen=True, slots=True)
class Carrier:
    name: str
    declaration: Declaration
    kind: str
    source: StreamRef
    options: Mapping[str, Any]
    cpu: Range[Cpu]
    memory: Range[Memory]


@dataclass(frozen=True, slots=True)
class Copier:
    name: str
    declaration: Declaration
    source: StreamRef


@dataclass(frozen=True, slots=True)
class Filter:
    name: str
    declaration: Declaration
    source: StreamRef
    where: Condition
    share: float


@dataclass(frozen=True, slots=True)
class Splitter:
    """`share` has an entry for every case."""

    name: str
    declaration: Declaration
    source: StreamRef
    cases: Mapping[str, Condition]
    share: Mapping[str, float]
    drop: bool


@dataclass(frozen=True, slots=True)
class Sharder:
    """`order` is empty without a rollout."""

    name: str
    declaration: Declaration
    source: StreamRef
    key: Condition
    shards: Mapping[str, Nodes | None]
    order: tuple[str, ...]
    prove: int


@dataclass(frozen=True, slots=True)
class Merger:
    name: str
    declaration: Declaration
    sources: tuple[StreamRef, ...]


Node = Source | Queue | Batch | Carrier | Copier | Filter | Splitter | Sharder | Merger


def inputs(node: Node) -> tuple[StreamRef, ...]:
    """The streams that a node reads."""
    match node:
        case Source():
            return ()
        case Merger():
            return node.sources
        case _:
            return (node.source,)
