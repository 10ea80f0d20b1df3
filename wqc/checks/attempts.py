"""What one attempt at an item runs with: time, environment, mounts."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from wqc.contract.pod import RESULT_FILE
from wqc.diagnostics.finding import Finding, Label
from wqc.diagnostics.mistakes import pods as mistakes
from wqc.emit.objects.workers import container_names
from wqc.language import syntax
from wqc.language.declaration import Declaration
from wqc.language.written import key_place, value_place
from wqc.model.nodes import Batch, Queue, Worker
from wqc.model.workflow import Workflow

_VARIABLES = ("WORK_ITEM_FILE", "WORK_ITEM_DIR", "WORK_RESULT_FILE", "WORK_SCRATCH", "WORK_STDIN")
_EMPTY = ("tmp", "scratch")
_VOLUMES = ("item", "steps", "batch", *_EMPTY)
_MOUNT = re.compile(r"/wqc(/.*)?|/dev|" + RESULT_FILE)


def attempts(workflow: Workflow) -> Iterator[Finding]:
    """Timeouts that are too short, and what collides with what wqc puts into a worker's pod."""
    for worker in workflow.workers.values():
        yield from _variables(worker.declaration)
        if worker.pod:
            yield from _raw(worker, worker.declaration.attributes["pod"].written)
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


def _raw(worker: Worker, written: syntax.Value) -> Iterator[Finding]:
    """What `pod` says of the volumes and of the containers that wqc makes."""
    for index, volume in _entries(worker.pod, "volumes"):
        name = volume.get("name")
        if name in _VOLUMES and not (name in _EMPTY and volume.keys() <= {"name", "emptyDir"}):
            place = value_place(written, ("volumes", index))
            yield mistakes.reserved_pod_field(
                place, f"volumes[{index}]", f"name the volume otherwise than `{name}`"
            )
    own = set(container_names(worker))
    for field in ("containers", "initContainers"):
        for index, container in _entries(worker.pod, field):
            if container.get("name") not in own:
                continue
            for at, variable in _entries(container, "env"):
                if (name := variable.get("name")) in _VARIABLES:
                    yield mistakes.reserved_variable(value_place(written, (field, index, "env", at)), name)
            for at, mount in _entries(container, "volumeMounts"):
                if _MOUNT.fullmatch(str(path := mount.get("mountPath")).rstrip("/")):
                    place = value_place(written, (field, index, "volumeMounts", at))
                    yield mistakes.reserved_mount(place, str(path))


def _entries(fields: Mapping[str, Any], name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The entries of a list of maps; what is none is reported with the fields."""
    entries = fields.get(name)
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            yield index, entry
