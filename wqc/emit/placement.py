"""Where each source and carrier runs: in the manager's own process, or in an ambassador beside it.

What holds credentials, mounts a volume or is the user's own image is an ambassador, so that the manager has
its token and nothing else. Sources of one kind with the same credentials and mounts share one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wqc.contract.pod import FIRST_AMBASSADOR_PORT
from wqc.language.values import Pvc, Secret
from wqc.model.nodes import Batch, Carrier, Queue, Source
from wqc.model.workflow import Workflow

Credentials = tuple[tuple[str, Secret], ...]
Mounts = tuple[tuple[str, Pvc], ...]


@dataclass(frozen=True, slots=True)
class Ambassador:
    """One container. `port` is on loopback; `nodes` are of one kind, a carrier alone."""

    nodes: tuple[Source | Carrier, ...]
    port: int
    credentials: Credentials
    mounts: Mounts

    @property
    def name(self) -> str:
        """After the first that it serves: `source-films`."""
        block = "carrier" if isinstance(self.nodes[0], Carrier) else "source"
        return f"{block}-{self.nodes[0].name}".replace("_", "-")


@dataclass(frozen=True, slots=True)
class Placement:
    """`inside` are those that the manager runs itself. What only a batch reads is in neither."""

    inside: tuple[Source | Carrier, ...]
    ambassadors: tuple[Ambassador, ...]
    has_manager: bool
    """False for a workflow of batches alone, whose Jobs need none."""

    def url(self, node: Source | Carrier) -> str:
        """Where an ambassador serves the node; empty if none does."""
        for ambassador in self.ambassadors:
            if any(node.name == served.name for served in ambassador.nodes):
                address = f"http://127.0.0.1:{ambassador.port}"
                return address if node.kind == "container" else f"{address}/{node.name}"
        return ""


def place(workflow: Workflow) -> Placement:
    nodes = workflow.nodes.values()
    batched = {node.source.node for node in nodes if isinstance(node, Batch)}
    here = [
        node
        for node in nodes
        if isinstance(node, Carrier) or (isinstance(node, Source) and node.name not in batched)
    ]
    taken = {port for node in here if isinstance(node, Source) for port in own_ports(node)}
    free = (port for port in range(FIRST_AMBASSADOR_PORT, 1 << 16) if port not in taken)
    inside: list[Source | Carrier] = []
    groups: dict[object, list[Source | Carrier]] = {}
    for node in here:
        key = _sharing(node)
        if key is None:
            inside.append(node)
        else:
            groups.setdefault(key, []).append(node)
    ambassadors = tuple(_ambassador(tuple(group), free) for group in groups.values())
    return Placement(tuple(inside), ambassadors, any(isinstance(node, Queue | Carrier) for node in nodes))


def own_ports(source: Source) -> tuple[int, ...]:
    """The ports that a user's own ambassadors listen on."""
    if source.kind != "container":
        return ()
    return tuple(options.get("port", 8080) for options in option_sets(source))


def option_sets(node: Source | Carrier) -> tuple[Mapping[str, Any], ...]:
    """A node's options, one set per member of a bundle."""
    members = tuple(node.members.values()) if isinstance(node, Source) else ()
    return members or (node.options,)


def credentials(node: Source | Carrier) -> Credentials:
    """Every secret among a node's options, once, by attribute."""
    found = (
        (name, value)
        for options in option_sets(node)
        for name, value in options.items()
        if isinstance(value, Secret)
    )
    return tuple(dict.fromkeys(found))


def _ambassador(nodes: tuple[Source | Carrier, ...], free: Iterator[int]) -> Ambassador:
    first = nodes[0]
    if isinstance(first, Source) and first.kind == "container":
        return Ambassador(nodes, own_ports(first)[0], (), ())
    return Ambassador(nodes, next(free), credentials(first), mounts(first))


def mounts(node: Source | Carrier) -> Mounts:
    """The volumes that the node itself reads, by path."""
    found = (
        (str(options["path"]), volume)
        for options in option_sets(node)
        if isinstance(volume := options.get("volume"), Pvc)
    )
    return tuple(dict.fromkeys(found))


def _sharing(node: Source | Carrier) -> object:
    """What nodes that share an ambassador have in common; None for a node that needs no ambassador."""
    held = credentials(node)
    mounted = mounts(node)
    if node.kind == "container" or (isinstance(node, Carrier) and held):
        return node.name
    return (node.kind, held, mounted) if held or mounted else None
