"""Batches on this machine: an item is a process either way, so here a batch is a queue.

How many pods it takes, and when its Job is over (`kind`, `completions`, `wait`, `run`), are questions of a
cluster.
"""

from collections.abc import Mapping
from dataclasses import replace

from wqc.emit.objects.folder import folder
from wqc.emit.placement import place
from wqc.emit.render import render
from wqc.language.values import Duration, Range
from wqc.model.flow import flow_of
from wqc.model.nodes import Batch, Queue
from wqc.model.workflow import Workflow

_HOUR = Duration(3_600_000_000)


def as_queues(workflow: Workflow, image: str) -> tuple[Workflow, Mapping[str, str]]:
    """The workflow without batches, and its files."""
    nodes = {
        name: _as_queue(node) if isinstance(node, Batch) else node for name, node in workflow.nodes.items()
    }
    changed = replace(workflow, nodes=nodes)
    return changed, render(folder(changed, place(changed), flow_of(changed).rates, image)).files


def _as_queue(batch: Batch) -> Queue:
    return Queue(
        name=batch.name,
        declaration=batch.declaration,
        source=batch.source,
        worker=batch.worker,
        parallelism=Range(batch.parallelism, batch.parallelism),
        retries=batch.retries,
        timeout=batch.timeout,
        env=batch.env,
        takes=batch.takes,
        result="none",
        rework="never",
        poison=(),
        deadline=_HOUR,
        failure_rate=0.0,
        handover=500,
        failed_limit=1000,
        keep=_HOUR,
        place=None,
        paused=False,
        formerly="",
    )
