"""Names of objects: whether what is derived from them fits, and is nobody else's."""

from collections.abc import Iterator

from wqc.contract.names import JOB_PREFIX_LIMIT, LABEL_LIMIT, MANAGER, STATE, object_name
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import kubernetes as mistakes
from wqc.diagnostics.source import Span
from wqc.emit.objects.batch import MOST_PODS
from wqc.emit.objects.workers import container_names
from wqc.emit.placement import place
from wqc.language import syntax
from wqc.language.written import key_place
from wqc.model.nodes import Batch, Carrier, Queue, Sharder, Source
from wqc.model.streams import Streams
from wqc.model.workflow import Workflow

_BATCH_HASH = 10
_OWN = (MANAGER, STATE)
"""ConfigMaps that a workflow has besides those of its nodes."""
_WHY_QUEUE = (
    f"its Jobs are named after it, and of a label's {LABEL_LIMIT} characters\n"
    f"{LABEL_LIMIT - JOB_PREFIX_LIMIT} tell items and attempts apart"
)
_WHY_BATCH = "its Job's name ends in a hash, its pods' host names in a number too, and each holds 63"
_WHY_OTHER = f"the name becomes a label, and a label holds {LABEL_LIMIT} characters"


def object_names(workflow: Workflow) -> Iterator[Finding]:
    """Names that are too long or taken."""
    own = object_name(workflow.name, "manager")
    at = workflow.declaration.name_span
    if len(own) > LABEL_LIMIT:
        # Then every name is, and one finding says so.
        yield mistakes.workflow_name_too_long(at, own, LABEL_LIMIT)
        return
    for node in workflow.nodes.values():
        name = object_name(workflow.name, node.name)
        match node:
            case Queue():
                limit, why = JOB_PREFIX_LIMIT, _WHY_QUEUE
            case Batch():
                limit, why = LABEL_LIMIT - len("-") - _BATCH_HASH - _index_length(node), _WHY_BATCH
            case _:
                limit, why = LABEL_LIMIT, _WHY_OTHER
        if len(name) > limit:
            yield mistakes.name_too_long(node.declaration.name_span, name, limit, why, at)
        if isinstance(node, Queue | Source | Carrier) and node.name in _OWN:
            yield mistakes.same_object(node.declaration.name_span, "ConfigMap", name, at)
    yield from _lanes(workflow)
    yield from _containers(workflow)


def _index_length(batch: Batch) -> int:
    """What an index adds to the host names of a measured batch's pods; the others have none."""
    if batch.completions is not None:
        return 0
    pods = MOST_PODS if batch.kind == "coarse" else batch.parallelism + 1
    return len(f"-{pods - 1}")


def _lanes(workflow: Workflow) -> Iterator[Finding]:
    """Members of bundles become labels too, where a queue makes a lane of each."""
    streams = Streams(workflow.nodes)
    read = {
        stream
        for node in workflow.nodes.values()
        if isinstance(node, Queue)
        for stream in streams.lanes(node)
    }
    for node in workflow.nodes.values():
        match node:
            case Source(members=members):
                attribute = "each"
            case Sharder(shards=members):
                attribute = "shards"
            case _:
                continue
        for member in members:
            if member in read and len(member) > LABEL_LIMIT:
                written = node.declaration.attributes[attribute].written
                yield mistakes.part_name_too_long(
                    _member_place(written, member), member, LABEL_LIMIT, "a lane's name becomes a label"
                )


def _containers(workflow: Workflow) -> Iterator[Finding]:
    """The steps of a pipeline and the ambassadors give their names to containers, without the workflow's."""
    why = "it names a container"
    for worker in workflow.workers.values():
        for step, name in zip(worker.pipeline, container_names(worker), strict=False):
            if len(name) > LABEL_LIMIT:
                at = worker.declaration.span_of("pipeline")
                yield mistakes.part_name_too_long(at, name, LABEL_LIMIT, f"{why}, that of step `{step.name}`")
    for ambassador in place(workflow).ambassadors:
        if len(ambassador.name) > LABEL_LIMIT:
            at = ambassador.nodes[0].declaration.name_span
            yield mistakes.part_name_too_long(at, ambassador.name, LABEL_LIMIT, why)


def _member_place(written: syntax.Value, member: str) -> Span:
    """In a map of shards or of `each`, or in a list of shards."""
    if isinstance(written, syntax.ListValue):
        return next((item.span for item in written.items if item.span.text == member), written.span)
    return key_place(written, (member,))
