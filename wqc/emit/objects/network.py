"""`network.yaml`: who may connect to what."""

import re
from typing import NamedTuple

from wqc.contract.names import object_name
from wqc.emit.objects.metadata import Metadata, of_node, of_workflow
from wqc.emit.objects.workers import egress
from wqc.emit.placement import Placement, option_sets
from wqc.model.nodes import Batch, Carrier, Node, Queue, Source
from wqc.model.workflow import Workflow

_SCHEME_PORTS = {"http": 80, "https": 443, "ssh": 22, "git": 9418, "amqp": 5672, "amqps": 5671}
_ADDRESS = re.compile(r"(?:([a-z+]+)://)?(?:[^/@]*@)?(?:\[[^]]*\]|[^/:,]*)(?::(\d+))?")


class Ports(NamedTuple):
    """TCP ports that the manager's pod connects to, and what is there."""

    ports: tuple[int, ...]
    what: str


class Narrowed(NamedTuple):
    """A queue or batch, as `label` says, whose pods may go to `networks` and to a broker's `ports` alone."""

    metadata: Metadata
    label: str
    node: str
    networks: tuple[str, ...]
    ports: tuple[int, ...]


class NetworkFile(NamedTuple):
    """`workers` is None where every queue's pods are narrowed down; `narrowed` hold for all the others."""

    file: str
    ingress: Metadata
    workers: Metadata | None
    narrowed: tuple[Narrowed, ...]
    manager: Metadata | None
    api_server: str
    anywhere: bool
    needs: tuple[Ports, ...]

    @property
    def exceptions(self) -> dict[str, list[str]]:
        """The values of a label whose pods the workers' policy leaves out."""
        found: dict[str, list[str]] = {}
        for narrowed in self.narrowed:
            found.setdefault(narrowed.label, []).append(narrowed.node)
        return found


def network_file(workflow: Workflow, placement: Placement) -> NetworkFile:
    app = object_name(workflow.name)
    working = [node for node in workflow.nodes.values() if isinstance(node, Queue | Batch)]
    narrowed = tuple(_narrowed(workflow, node) for node in working if egress(node.worker) != "any")
    api_server = workflow.cluster.api_server
    outside = [*placement.inside, *(node for each in placement.ambassadors for node in each.nodes)]
    return NetworkFile(
        file="network.yaml",
        ingress=of_workflow(workflow, "ingress")._replace(app=app, component="network"),
        workers=of_workflow(workflow, "workers")._replace(app=app, component="network")
        if len(narrowed) < len(working)
        else None,
        narrowed=narrowed,
        manager=of_workflow(workflow, "manager")._replace(app=app, component="network")
        if placement.has_manager
        else None,
        api_server=api_server.network if api_server else "",
        anywhere=any(node.kind == "container" for node in outside),
        needs=_needs(outside),
    )


def _needs(outside: list[Source | Carrier]) -> tuple[Ports, ...]:
    names: dict[tuple[int, ...], list[str]] = {}
    for node in outside:
        if ports := _ports(node):
            names.setdefault(ports, []).append(node.name)
    return tuple(Ports(ports, ", ".join(sharing)) for ports, sharing in names.items())


def _narrowed(workflow: Workflow, node: Queue | Batch) -> Narrowed:
    networks = egress(node.worker)
    source = workflow.nodes[node.source.node] if isinstance(node, Batch) else None
    return Narrowed(
        metadata=of_node(workflow, node.name, "network")._replace(
            name=object_name(workflow.name, node.name, "egress")
        ),
        label="wqc/queue" if isinstance(node, Queue) else "wqc/batch",
        node=node.name,
        networks=tuple(each.network for each in networks) if isinstance(networks, tuple) else (),
        ports=_ports(source) if source else (),
    )


def _ports(node: Node) -> tuple[int, ...]:
    """Those in the addresses of a source or carrier."""
    if not isinstance(node, Source | Carrier):
        return ()
    found = {
        port
        for options in option_sets(node)
        for name in ("brokers", "url", "endpoint", "management")
        for address in str(options.get(name, "")).split(",")
        if (port := _port(address))
    }
    return tuple(sorted(found))


def _port(address: str) -> int:
    """Of `kafka:9092` or `https://git.example.com/api.git`; 0 for a path."""
    scheme, port = match.groups() if (match := _ADDRESS.match(address)) else (None, None)
    return int(port) if port else _SCHEME_PORTS.get(scheme or "", 0)
