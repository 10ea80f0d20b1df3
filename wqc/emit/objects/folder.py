"""The folder of one workflow, file by file."""

import posixpath
import re
from collections.abc import Mapping
from typing import NamedTuple

from wqc import __version__
from wqc.contract.settings import QueueSettings
from wqc.emit.objects.access import AccessFile, access_file
from wqc.emit.objects.batch import BatchFile, batch_file
from wqc.emit.objects.manager import ManagerFile, manager_file
from wqc.emit.objects.network import NetworkFile, network_file
from wqc.emit.objects.program import program
from wqc.emit.objects.queue import QueueFile, queue_file
from wqc.emit.objects.settings import of_queue
from wqc.emit.objects.source import EndFile, end_file
from wqc.emit.placement import Placement
from wqc.model.nodes import Batch, Carrier, Merger, Queue, Sharder, Source, StreamRef, inputs
from wqc.model.streams import Streams
from wqc.model.workflow import Workflow

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,59}")


class Folder(NamedTuple):
    """`origin` is the `.wq` file's name. `manager` is None for a workflow of batches alone.

    `ends` are the sources and carriers that have settings.
    """

    origin: str
    access: AccessFile
    network: NetworkFile
    queues: tuple[QueueFile, ...]
    ends: tuple[EndFile, ...]
    batches: tuple[BatchFile, ...]
    manager: ManagerFile | None


def folder(workflow: Workflow, placement: Placement, rates: Mapping[StreamRef, float], image: str) -> Folder:
    """`rates` are items per second by plain stream (see Flow). `image` is the command line's, or empty."""
    streams = Streams(workflow.nodes)
    nodes = workflow.nodes.values()
    runtime = workflow.manager.image or image or f"wqc-runtime:{__version__}"
    ends = {
        node.name: end
        for node in nodes
        if isinstance(node, Source | Carrier) and (end := end_file(workflow, node))
    }
    queues = tuple(
        queue_file(workflow, node, _settings(workflow, node, streams, rates), runtime)
        for node in nodes
        if isinstance(node, Queue)
    )
    return Folder(
        origin=_origin(workflow),
        access=access_file(workflow, placement.has_manager),
        network=network_file(workflow, placement),
        queues=queues,
        ends=tuple(ends.values()),
        batches=tuple(_batch(workflow, node, ends, runtime) for node in nodes if isinstance(node, Batch)),
        manager=_manager(workflow, streams, placement, ends, queues, runtime)
        if placement.has_manager
        else None,
    )


def remembered(workflow: Workflow) -> dict[str, str]:
    """The names under which finished items may be remembered: the queues' own, former ones, retired ones;
    each with the queue's `rework`, "" for a retired one.
    """
    queues = [node for node in workflow.nodes.values() if isinstance(node, Queue)]
    own = {name: queue.rework for queue in queues for name in (queue.name, queue.formerly) if name}
    return dict.fromkeys(workflow.retired, "") | own


def _origin(workflow: Workflow) -> str:
    """The file's own name: its folder is another on each machine."""
    name = posixpath.basename(workflow.declaration.head.source.name)
    return name if _PLAIN_NAME.fullmatch(name) else "its .wq file"


def _settings(
    workflow: Workflow, queue: Queue, streams: Streams, rates: Mapping[StreamRef, float]
) -> QueueSettings:
    parts = [rates.get(part) for part in streams.expand(queue.source)]
    rate = sum(part for part in parts if part) if all(parts) else 0.0
    arrives = float(f"{1 / rate:.4g}") if rate else None
    return of_queue(queue, streams.lanes(queue), _sharder(workflow, queue.source), arrives)


def _sharder(workflow: Workflow, stream: StreamRef) -> Sharder | None:
    """The one that made the members of the bundle that `stream` is."""
    node = workflow.nodes[stream.node]
    while not isinstance(node, Sharder | Merger | Source | Queue):
        stream = inputs(node)[0]
        node = workflow.nodes[stream.node]
    return node if isinstance(node, Sharder) and not stream.output else None


def _batch(workflow: Workflow, batch: Batch, ends: Mapping[str, EndFile], image: str) -> BatchFile:
    source = workflow.nodes[batch.source.node]
    if not isinstance(source, Source):
        raise TypeError(f"{batch.name} reads {source.name}, which is no source")
    return batch_file(workflow, batch, source, ends[source.name], image)


def _manager(
    workflow: Workflow,
    streams: Streams,
    placement: Placement,
    ends: Mapping[str, EndFile],
    queues: tuple[QueueFile, ...],
    image: str,
) -> ManagerFile:
    run = [*placement.inside, *(node for each in placement.ambassadors for node in each.nodes)]
    used = {node.name: ends[node.name] for node in run if node.name in ends}
    wiring = program(workflow, streams, placement, _origin(workflow))
    return manager_file(workflow, placement, wiring, used, image)
