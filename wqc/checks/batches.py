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
    at, declared = batch.declaration.span_of("worker"), worker.declaration.name_span
    if worker.pipeline:
        reason, advice = "is a pipeline, which has several", "use a worker whose command does all of it"
        yield mistakes.batch_without_command(at, worker.name, reason, advice, declared)
    elif not worker.command and not worker.run:
        reason, advice = "has none", 'give the worker a `command = ["…"]`: what its image would start'
        yield mistakes.batch_without_command(at, worker.name, reason, advice, declared)


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
