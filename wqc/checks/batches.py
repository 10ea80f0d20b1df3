"""Batches: what they read, what they run, and when they are done."""

from collections.abc import Iterator

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import batches as mistakes
from wqc.model.nodes import Batch, Node, Source
from wqc.model.workflow import Workflow

MESSAGE_QUEUES = ("rabbitmq", "redis_list", "redis_stream")
"""Kinds of source whose broker gives each message to one of several readers."""


def batches(workflow: Workflow) -> Iterator[Finding]:
    """What keeps a batch from running or from ending."""
    for node in workflow.nodes.values():
        if isinstance(node, Batch):
            yield from _worker(node)
            if (source := workflow.nodes.get(node.source.node)) is not None:
                yield from _source(node, source)


def _worker(batch: Batch) -> Iterator[Finding]:
    worker = batch.worker
    reason = ""
    if worker.pipeline:
        reason = "is a pipeline, which has several"
    elif not worker.command and not worker.run:
        reason = "has none"
    if reason:
        at = batch.declaration.span_of("worker")
        yield mistakes.batch_without_command(at, worker.name, reason, worker.declaration.name_span)


def _source(batch: Batch, source: Node) -> Iterator[Finding]:
    at, declared = batch.declaration.span_of("from"), source.declaration.name_span
    if not isinstance(source, Source) or source.kind not in MESSAGE_QUEUES:
        what = (
            f"a source of kind {source.kind}"
            if isinstance(source, Source)
            else f"a {source.declaration.block}"
        )
        yield mistakes.batch_without_messages(at, str(batch.source), what, MESSAGE_QUEUES, declared)
    elif source.kind == "rabbitmq" and batch.completions is None and "management" not in source.options:
        yield mistakes.batch_never_ends(batch.declaration.head, source.name, declared)
