"""A workflow as its file declares it, every name resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from wqc.contract.expression import Param
from wqc.language.declaration import Declaration
from wqc.language.values import Cidr, Cpu, Duration, Memory, Range, Raw
from wqc.model.nodes import Node, Worker


@dataclass(frozen=True, slots=True)
class Manager:
    """The manager's pod; `declaration` is `None` where the file has no such block, as for Budget and
    Cluster.
    """

    declaration: Declaration | None = None
    image: str = ""
    cpu: Range[Cpu] = Range(Cpu(100), Cpu(1000))
    memory: Range[Memory] = Range(Memory(128 << 20), Memory(128 << 20))
    user: int = 10001
    profile: Literal["restricted", "baseline", "privileged"] = "restricted"
    pod: Mapping[str, Raw] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Budget:
    """The namespace's quota; `None` is unlimited."""

    declaration: Declaration | None = None
    cpu: Cpu | None = None
    memory: Memory | None = None
    pods: int | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    declaration: Declaration | None = None
    jobs_per_second: float = 3.0
    pod_start: Duration = Duration(3_000_000)
    api_server: Cidr | None = None


@dataclass(frozen=True, slots=True)
class Workflow:
    """`nodes` and `workers` are in the order declared; `workers` are keyed as they are written (`lib.fetch`).

    `complete` is false if something that the file declares couldn't be understood (and was reported), so
    that nothing can be
    said about what is missing.
    """

    name: str
    declaration: Declaration
    namespace: str
    retired: tuple[str, ...]
    manager: Manager
    budget: Budget
    cluster: Cluster
    nodes: Mapping[str, Node]
    workers: Mapping[str, Worker]
    params: tuple[tuple[str, Param], ...]
    complete: bool
