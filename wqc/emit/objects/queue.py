"""`queue-NAME.yaml`: the ConfigMap with a queue's settings and the Job of one attempt."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from wqc.contract.settings import QueueSettings
from wqc.emit.objects.metadata import Metadata, of_node
from wqc.emit.objects.pods import Pod
from wqc.emit.objects.settings import plain
from wqc.emit.objects.workers import pod
from wqc.model.nodes import Queue
from wqc.model.workflow import Workflow


class QueueFile(NamedTuple):
    """`labels` are the Job's and its pods'; the manager adds the rest."""

    file: str
    metadata: Metadata
    queue: str
    settings: Mapping[str, Any]
    labels: Metadata
    pod: Pod


def queue_file(workflow: Workflow, queue: Queue, settings: QueueSettings, image: str) -> QueueFile:
    """`image` is the run time's."""
    return QueueFile(
        file=f"queue-{queue.name.replace('_', '-')}.yaml",
        metadata=of_node(workflow, queue.name, "queue"),
        queue=queue.name,
        settings=plain(settings),
        labels=of_node(workflow, queue.name, "worker"),
        pod=pod(workflow, queue, image),
    )
