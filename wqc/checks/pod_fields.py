"""Raw fields of `pod` against the schema of the chosen Kubernetes version."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import pods as mistakes
from wqc.language.declaration import Given
from wqc.language.values import Raw
from wqc.language.written import Step, key_place, value_place
from wqc.model.podspec import VERSIONS, PodSpec, pod_spec
from wqc.model.workflow import Workflow

# apimachinery, resource.Quantity
_QUANTITY = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?")
_SCALARS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "quantity": 'a quantity such as "500m" or "2Gi"',
    "int-or-string": "a whole number or a string",
}
_KEPT = ("containers", "initContainers", "volumes")
_WORKER_RESERVED = {
    "restartPolicy": "one Job is one attempt at an item; `retries` of the queue says how many there are",
    "activeDeadlineSeconds": "say `timeout = …` on the queue or batch",
    "ephemeralContainers": "these are added to running pods, by `kubectl debug`",
}
_MANAGER_RESERVED = {
    "restartPolicy": "the manager's pod is a Deployment's, which restarts always",
    "activeDeadlineSeconds": "the manager's pod has no end",
    "ephemeralContainers": _WORKER_RESERVED["ephemeralContainers"],
    "serviceAccountName": "the manager's own account has just the rights that it needs",
    "serviceAccount": "the manager's own account has just the rights that it needs",
}


def pod_fields(workflow: Workflow, version: str) -> Iterator[Finding]:
    """What is wrong with the `pod` of workers and of the manager."""
    for worker in workflow.workers.values():
        if worker.pod:
            yield from _Check(worker.declaration.attributes["pod"], version).pod(worker.pod, _WORKER_RESERVED)
    manager = workflow.manager
    if manager.declaration and manager.pod:
        yield from _Check(manager.declaration.attributes["pod"], version).pod(manager.pod, _MANAGER_RESERVED)


class _Check:
    def __init__(self, given: Given, version: str) -> None:
        self._written = given.written
        self._spec = pod_spec(version)

    def pod(self, pod: Mapping[str, Raw], reserved: Mapping[str, str]) -> Iterator[Finding]:
        for field, value in pod.items():
            place = key_place(self._written, (field,))
            if field in reserved:
                yield mistakes.reserved_pod_field(place, field, reserved[field])
            elif field in _KEPT and value is None:
                yield mistakes.reserved_pod_field(place, field, "its entries can be added to, not taken away")
        rest = {field: value for field, value in pod.items() if field not in reserved}
        yield from self._fields(rest, self._spec.root, ())

    def _fields(self, given: Mapping[str, Raw], kind: str, path: tuple[Step, ...]) -> Iterator[Finding]:
        known = self._spec.types[kind].fields
        for field, value in given.items():
            inner = (*path, field)
            if field not in known:
                yield mistakes.unknown_pod_field(
                    key_place(self._written, inner),
                    path_text(inner),
                    field,
                    [name for name in known if name not in given],
                    self._spec.version,
                    _later(self._spec, kind, field),
                )
            else:
                yield from self._value(value, known[field], inner)

    def _value(self, value: Raw, kind: str, path: tuple[Step, ...]) -> Iterator[Finding]:
        expected = _expected(kind)
        if value is None and isinstance(path[-1], str):
            # null takes away what wqc writes there itself.
            return
        if not _fits(value, kind):
            yield mistakes.wrong_pod_type(
                value_place(self._written, path),
                path_text(path),
                expected,
                _described(value),
                _mended(value, kind),
            )
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._value(item, kind[1:-1], (*path, index))
        elif isinstance(value, dict) and kind.startswith("{"):
            for key, item in value.items():
                yield from self._value(item, kind[1:-1], (*path, key))
        elif isinstance(value, dict) and kind != "any":
            yield from self._fields(value, kind, path)
            for field in self._spec.types[kind].required:
                if field not in value:
                    wanted = _expected(self._spec.types[kind].fields[field])
                    place = value_place(self._written, path)
                    yield mistakes.missing_pod_field(place, path_text(path), field, wanted)


def path_text(path: tuple[Step, ...]) -> str:
    """`("containers", 0, "image")` → `containers[0].image`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def _later(spec: PodSpec, kind: str, field: str) -> str:
    """The first newer version that has the field; `""` without one."""
    for version in VERSIONS[VERSIONS.index(spec.version) + 1 :]:
        newer = pod_spec(version).types.get(kind)
        if newer and field in newer.fields:
            return version
    return ""


def _expected(kind: str) -> str:
    if kind.startswith("["):
        return "a list"
    if kind[0] in "{" or kind[0].isupper():
        return "a map"
    return _SCALARS.get(kind, "anything")


def _fits(value: Raw, kind: str) -> bool:
    if kind == "any":
        return True
    if kind.startswith("["):
        return isinstance(value, list)
    if kind[0] == "{" or kind[0].isupper():
        return isinstance(value, dict)
    if isinstance(value, bool):
        return kind == "boolean"
    match value:
        case str():
            return kind in ("string", "int-or-string") or bool(
                kind == "quantity" and _QUANTITY.fullmatch(value)
            )
        case int():
            return kind in ("integer", "number", "quantity", "int-or-string")
        case Decimal():
            return kind in ("number", "quantity")
    return False


def _mended(value: Raw, kind: str) -> str:
    """What to write instead, where a quote too many or too few explains it."""
    match value:
        case bool() | int() | Decimal() if kind in ("string", "quantity"):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            return f'put it in quotes: "{text}"'
        case str() if kind == "boolean" and value in ("true", "false"):
            return f"write it without quotes: {value}"
        case str() if kind in ("integer", "number", "int-or-string") and value.isdecimal():
            return f"write it without quotes: {value}"
    return ""


def _described(value: Raw) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"' if len(value) <= 30 else "a string"
        case list():
            return "a list"
        case dict():
            return "a map"
    return f"the number {value}"
