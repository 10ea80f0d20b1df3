"""Containers: their environment, resources and security, in the terms of Kubernetes."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from wqc.emit.objects.volumes import Mount
from wqc.language.values import ConfigMap, Cpu, Memory, Range, Secret
from wqc.model.nodes import Environment

_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")


class Variable(NamedTuple):
    """An environment variable with a `value`, or with one `key` of a Secret or ConfigMap `holder`."""

    name: str
    value: str = ""
    holder: Literal["", "secret", "config_map"] = ""
    object: str = ""
    key: str = ""

    @property
    def doubled(self) -> bool:
        """Whether `$` was doubled in it, which Kubernetes undoes."""
        return "$$" in self.value


class Resources(NamedTuple):
    """Quantities by resource, in their canonical spelling."""

    requests: Mapping[str, str]
    limits: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.requests or self.limits)


class Security(NamedTuple):
    """`restricted`: as that Pod Security Standard demands. `user` is set where it isn't the pod's."""

    restricted: bool
    read_only_root: bool
    user: int | None = None

    def __bool__(self) -> bool:
        return self.restricted or self.read_only_root or self.user is not None


class Probe(NamedTuple):
    """An HTTP path on the port named http, or a command. Seconds; `failures` in a row count."""

    kind: Literal["startup", "liveness", "readiness"]
    path: str = ""
    command: tuple[str, ...] = ()
    period: int = 10
    failures: int = 3


class Container(NamedTuple):
    """`port` is named http. `sidecar` is for init containers that run on beside the others."""

    name: str
    image: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    env: tuple[Variable, ...]
    resources: Resources
    security: Security
    mounts: tuple[Mount, ...]
    port: int = 0
    probes: tuple[Probe, ...] = ()
    sidecar: bool = False
    comment: str = ""

    @property
    def doubled(self) -> bool:
        """Whether `$` was doubled in what it runs, which Kubernetes undoes."""
        return any("$$" in text for text in (*self.command, *self.args))


def environment(*layers: Environment) -> tuple[Variable, ...]:
    """Each name once, in the order first given; what a later layer says goes."""
    merged: dict[str, str | Secret | ConfigMap] = {}
    for layer in layers:
        merged |= layer
    names = merged.keys()
    return tuple(_variable(name, value, names) for name, value in merged.items())


def resources(
    cpu: Range[Cpu] | None, memory: Range[Memory] | None, extended: Mapping[str, int] | None = None
) -> Resources:
    """`cpu = a` is a request alone; `memory = a` is both."""
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    if cpu is not None:
        requests["cpu"] = str(cpu.low)
        if cpu.low != cpu.high:
            limits["cpu"] = str(cpu.high)
    if memory is not None:
        requests["memory"] = str(memory.low)
        limits["memory"] = str(memory.high)
    for name, count in (extended or {}).items():
        # Kubernetes takes the limit of an extended resource as its request
        limits[name] = str(count)
    return Resources(requests, limits)


def verbatim(text: str, names: Iterable[str]) -> str:
    """`text` so that Kubernetes, which reads `$$` as `$` and `$(NAME)` as a variable, hands it on as it is.

    `names` are the container's variables; what stands in `$(…)` and is none of them is left alone.
    """
    if "$" not in text:
        return text
    known = frozenset(names)

    def doubled(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$$$$"
        variable = found[1] in known or found[1].startswith("KUBERNETES_")
        return f"${found[0]}" if variable else found[0]

    return _REFERENCE.sub(doubled, text)


def _variable(name: str, value: str | Secret | ConfigMap, names: Iterable[str]) -> Variable:
    match value:
        case Secret():
            return Variable(name, holder="secret", object=value.name, key=value.key)
        case ConfigMap():
            return Variable(name, holder="config_map", object=value.name, key=value.key)
        case _:
            return Variable(name, verbatim(value, names))
