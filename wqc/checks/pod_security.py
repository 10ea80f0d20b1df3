"""Pods against the profile of the Pod Security Standards that their block states.

What wqc writes itself is restricted; so only `user` and the raw fields of `pod` can be less.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wqc.checks.pod_fields import path_text
from wqc.checks.pod_profile import less_than_restricted
from wqc.contract.names import MANAGER
from wqc.diagnostics.finding import Finding, Label
from wqc.diagnostics.mistakes import security as mistakes
from wqc.diagnostics.source import Span
from wqc.emit.objects.workers import container_names
from wqc.emit.placement import place
from wqc.language.declaration import Declaration
from wqc.language.written import key_place, value_place
from wqc.model.nodes import Source, Worker
from wqc.model.workflow import Workflow

PROFILES = ("restricted", "baseline", "privileged")
_SHOWN = 4
_HELPERS = ("seed", "install", "broker")


@dataclass(frozen=True, slots=True)
class _Use:
    """Something that takes more than *restricted*: `profile` is the strictest that allows it."""

    profile: str
    what: str
    span: Span
    instead: str


def pod_security(workflow: Workflow, version: str) -> Iterator[Finding]:
    """Workers, and the manager's pod with the ambassadors in it."""
    for worker in workflow.workers.values():
        uses = [*_user(worker.declaration)]
        if worker.pod:
            own = _own_containers(worker, workflow)
            uses += _raw(worker.declaration, worker.pod, own, version)
        yield from _judged(worker.name, worker.declaration, worker.profile, uses)
        yield from _token(worker.name, worker.declaration, worker.pod)
    manager = workflow.manager
    uses = []
    if manager.declaration:
        yield from _token("manager", manager.declaration, manager.pod)
        uses += _user(manager.declaration)
        if manager.pod:
            own = frozenset((MANAGER, *(each.name for each in place(workflow).ambassadors)))
            uses += _raw(manager.declaration, manager.pod, own, version)
    for node in workflow.nodes.values():
        if isinstance(node, Source):
            uses += _user(node.declaration)
    yield from _judged("manager", manager.declaration, manager.profile, uses)


def _token(block: str, declaration: Declaration, pod: Mapping[str, Any]) -> Iterator[Finding]:
    if pod.get("automountServiceAccountToken") is True:
        place = key_place(declaration.attributes["pod"].written, ("automountServiceAccountToken",))
        yield mistakes.token_mounted(place, block)


def _own_containers(worker: Worker, workflow: Workflow) -> frozenset[str]:
    """Those that wqc makes in the worker's pods: what `pod` says of them is merged into what they have."""
    pods = [each for each in workflow.workers.values() if each is worker or worker in each.pipeline]
    return frozenset((*_HELPERS, *(name for pod in pods for name in container_names(pod))))


def _judged(block: str, declaration: Declaration | None, stated: str, uses: list[_Use]) -> Iterator[Finding]:
    allowed = PROFILES.index(stated)
    for use in uses:
        if PROFILES.index(use.profile) > allowed:
            yield mistakes.below_profile(use.span, use.what, use.profile, stated, _advice(block, use))
    if declaration is None or stated == "restricted":
        return
    at = declaration.span_of("profile")
    if stated == "privileged" and all(use.profile != "privileged" for use in uses):
        yield mistakes.needless_profile(at, stated, "baseline")
    else:
        labels = [Label(use.span, use.what) for use in uses if PROFILES.index(use.profile) <= allowed]
        yield mistakes.lowered_profile(at, block, stated, labels[:_SHOWN])


def _advice(block: str, use: _Use) -> str:
    where = "`manager`" if block == "manager" else f"worker `{block}`"
    return f"{use.instead}, or allow it: `profile = {use.profile}` in {where}"


def _user(declaration: Declaration) -> Iterator[_Use]:
    for attributes in (declaration.attributes, *declaration.members.values()):
        given = attributes.get("user")
        if given and given.value == 0:
            yield _Use("baseline", "running as root", given.span, "name another user id")
            return


def _raw(
    declaration: Declaration, pod: Mapping[str, Any], own: frozenset[str], version: str
) -> Iterator[_Use]:
    written = declaration.attributes["pod"].written
    for profile, what, path, instead in less_than_restricted(pod, own, version):
        yield _Use(profile, what.replace("{}", f"`{path_text(path)}`"), value_place(written, path), instead)
