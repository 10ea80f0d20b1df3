"""Whether what the queues of earlier builds have finished stays with someone, and means what it did."""

from collections.abc import Mapping, Sequence

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import graph as mistakes
from wqc.model.nodes import Queue
from wqc.model.workflow import Workflow


def check_renames(workflow: Workflow, earlier_queues: Mapping[str, str]) -> list[Finding]:
    """`earlier_queues` are the names in the previous build's lock, each with its `rework`, "" if unknown."""
    queues = {name: node for name, node in workflow.nodes.items() if isinstance(node, Queue)}
    findings: list[Finding] = []
    successors: dict[str, Queue] = {}
    for queue in queues.values():
        former = queue.formerly
        if not former:
            continue
        at = queue.declaration.span_of("formerly")
        if former in queues:
            findings.append(mistakes.former_name_in_use(at, former, queues[former].declaration.name_span))
        elif former in successors:
            first = successors[former].declaration.span_of("formerly")
            findings.append(mistakes.former_name_twice(at, former, first))
        else:
            successors[former] = queue
    retired_at = workflow.declaration.span_of("retired")
    for name in workflow.retired:
        if name in queues:
            at = queues[name].declaration.name_span
            findings.append(mistakes.retired_in_use(retired_at, name, name, at))
        elif name in successors:
            at = successors[name].declaration.span_of("formerly")
            findings.append(mistakes.retired_in_use(retired_at, name, successors[name].name, at))
    if workflow.complete:
        for queue in queues.values():
            before = earlier_queues.get(queue.name) or earlier_queues.get(queue.formerly, "")
            if before not in ("", queue.rework):
                written = queue.declaration.attributes.get("rework")
                at = written.span if written else queue.declaration.name_span
                findings.append(mistakes.changed_rework(at, queue.name, before, queue.rework))
        known = {*queues, *successors, *workflow.retired}
        added = [name for name in queues if name not in earlier_queues and not queues[name].formerly]
        for name in earlier_queues:
            if name not in known:
                hint = _hint(name, added, workflow)
                findings.append(mistakes.dropped_queue(workflow.declaration.head, name, hint))
    return findings


def _hint(name: str, added: Sequence[str], workflow: Workflow) -> str:
    retired = ", ".join(f'"{each}"' for each in (*workflow.retired, name))
    taken_out = f"if it was taken out, add to the workflow: retired = [{retired}]"
    if not added:
        return taken_out
    heir = f"`{added[0]}`" if len(added) == 1 else "the queue that it became"
    return f'if it was renamed, add to {heir}: formerly = "{name}"\n{taken_out}'
