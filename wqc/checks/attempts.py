"""What one attempt at an item runs with: time, environment, mounts."""

import re
from collections.abc import Iterator

from wqc.contract.pod import RESULT_FILE
from wqc.diagnostics.finding import Finding, Label
from wqc.diagnostics.mistakes import pods as mistakes
from wqc.language.declaration import Declaration
from wqc.language.written import key_place
from wqc.model.nodes import Batch, Queue
from wqc.model.workflow import Workflow

_VARIABLES = ("WORK_ITEM_FILE", "WORK_ITEM_DIR", "WORK_RESULT_FILE", "WORK_SCRATCH", "WORK_STDIN")
_MOUNT = re.compile(r"/wqc(/.*)?|/dev|" + RESULT_FILE)


def attempts(workflow: Workflow) -> Iterator[Finding]:
    """Timeouts that are too short, and what collides with what wqc puts into a worker's container."""
    for worker in workflow.workers.values():
        yield from _variables(worker.declaration)
        for path in worker.mounts:
            if _MOUNT.fullmatch(path.rstrip("/")):
                place = key_place(worker.declaration.attributes["mounts"].written, (path,))
                yield mistakes.reserved_mount(place, path)
    for node in workflow.nodes.values():
        if not isinstance(node, Queue | Batch):
            continue
        yield from _variables(node.declaration)
        if node.timeout and node.takes and node.timeout <= node.takes:
            declared = "takes" in node.declaration.attributes
            said = (node.declaration if declared else node.worker.declaration).span_of("takes")
            at = node.declaration.span_of("timeout")
            steps = not declared and "takes" not in node.worker.declaration.attributes
            mean = Label(said, "its steps together" if steps else "the mean")
            yield mistakes.timeout_too_short(at, str(node.timeout), str(node.takes), mean)


def _variables(declaration: Declaration) -> Iterator[Finding]:
    for name in declaration.get("env", {}):
        if name in _VARIABLES:
            yield mistakes.reserved_variable(key_place(declaration.attributes["env"].written, (name,)), name)
