"""ConfigMaps that hold more than Kubernetes lets them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wqc.contract.limits import CONFIG_MAP_BYTES
from wqc.contract.names import object_name
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import kubernetes as mistakes
from wqc.emit.objects.metadata import Identity
from wqc.model.workflow import Workflow

_WORST = 12
"""Bytes of YAML for one character of a text: an escape takes ten, an indented line of one character not
more.
"""
_NODE = 1024
"""More than a node adds to the manager's program, or has in its ConfigMap besides its own texts."""


def may_be_too_large(workflow: Workflow) -> bool:
    """Whether it takes rendering to be sure that every ConfigMap is small enough."""
    declarations = [node.declaration for node in workflow.nodes.values()]
    declarations += [worker.declaration for worker in workflow.workers.values()]
    texts = sum(
        _length(given.value)
        for declaration in declarations
        for attributes in (declaration.attributes, *declaration.members.values())
        for given in attributes.values()
    )
    return texts * _WORST + len(declarations) * _NODE > CONFIG_MAP_BYTES


def check_sizes(workflow: Workflow, objects: Iterable[Identity]) -> Iterator[Finding]:
    """For the objects that were rendered."""
    places = {object_name(workflow.name, node.name): node.declaration for node in workflow.nodes.values()}
    for each in objects:
        if each.kind == "ConfigMap" and each.size > CONFIG_MAP_BYTES:
            place = places.get(each.name, workflow.declaration).name_span
            yield mistakes.config_map_too_large(place, each.name, each.size, CONFIG_MAP_BYTES)


def _length(value: Any) -> int:
    """Characters in a typed value; what is no text counts as a few."""
    match value:
        case str():
            return len(value) + 8
        case Mapping():
            return sum(_length(key) + _length(inner) for key, inner in value.items())
        case list() | tuple():
            return sum(map(_length, value))
    return 16
