"""A Job of the API server, and the pod that it had, as the manager sees them: pure functions."""

from dataclasses import dataclass
from datetime import datetime

from wqc.contract.names import (
    DONE_LABEL,
    ITEM_ANNOTATION,
    LANE_LABEL,
    LARGE,
    QUEUE_LABEL,
    REASON_ANNOTATION,
    SUPERSEDED_LABEL,
    TEMPLATE_LABEL,
)
from wqc.runtime.obstacles import Kind, Obstacle
from wqc.runtime.queue.attempt import read_identity
from wqc.runtime.stores.job import Job, Phase
from wqc.runtime.stores.kubernetes.objects import Condition, ContainerStatus, JobObject, Pod

WORKER = "worker"
HINDRANCES: dict[str, Kind] = {
    "CreateContainerConfigError": "config",
    "CreateContainerError": "program",
    "ErrImageNeverPull": "image",
    "ErrImagePull": "image",
    "ImageInspectError": "image",
    "ImagePullBackOff": "image",
    "InvalidImageName": "image",
    "RunContainerError": "program",
}
"""Why a container waits, where it isn't the item's fault and more of the same would only wait too."""
CANNOT_START = ("ContainerCannotRun", "StartError")
"""Why a container is over that never was: what it should run isn't in its image, or can't be run there."""
JOB_NAME_LABEL = "batch.kubernetes.io/job-name"


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of a Job's pod. `exit_code` is None until a container failed or the worker ended, and where
    that one never started.
    """

    pod: str
    created: float
    unscheduled: float = 0.0
    running: bool = False
    started: bool = False
    hindrance: Obstacle | None = None
    overdue: float | None = None
    exit_code: int | None = None
    message: str = ""
    reason: str = ""


def ending(pod: Pod) -> Ending:
    inits = pod.status.init_container_statuses or []
    workers = [each for each in pod.status.container_statuses or [] if each.name == WORKER]
    failed = [each for each in inits if _code(each)]
    decisive = failed[:1] or [each for each in workers if each.state.terminated]
    terminated = decisive[0].state.terminated if decisive else None
    if terminated and terminated.reason in CANNOT_START:
        terminated = None
    return Ending(
        pod=pod.metadata.name,
        created=_seconds(pod.metadata.creation_timestamp),
        unscheduled=_unscheduled(pod),
        running=any(each.state.running for each in workers),
        started=any(map(_has_started, (*inits, *workers))),
        hindrance=_hindrance(pod, [*inits, *workers]),
        overdue=_overdue(pod),
        exit_code=terminated.exit_code if terminated else None,
        message=terminated.message if terminated else "",
        reason=pod.status.reason or (terminated.reason if terminated else ""),
    )


def read_job(found: JobObject, last: Ending | None, is_apart: bool = False) -> Job:
    """`last`: its newest pod; None if there is none. `is_apart`: there is a ConfigMap with its item.

    Raises ValueError for a Job that no manager made.
    """
    metadata = found.metadata
    labels, annotations = metadata.labels or {}, metadata.annotations or {}
    identity = read_identity(annotations.get(ITEM_ANNOTATION, ""))
    over = finished_condition(found)
    held = annotations.get(REASON_ANNOTATION)
    data = (found.spec.template.metadata.annotations or {}).get(ITEM_ANNOTATION, "")
    phase: Phase = "active"
    reason, message, exit_code = "", None, None
    if held is not None:
        phase, reason = "failed", held
    elif over and over.type == "Complete":
        phase = "succeeded"
        exit_code = 0
        message = last.message if last and last.exit_code == 0 else None
    elif over:
        phase, reason = _failure(over, last)
        exit_code = last.exit_code if last else None
        message = last.message if last else None
    hindrance = last.hindrance if last and phase in ("active", "lost") else None
    return Job(
        job=metadata.name,
        queue=labels.get(QUEUE_LABEL, ""),
        lane=labels.get(LANE_LABEL, ""),
        name=identity.name,
        version=identity.version,
        round=identity.round,
        attempt=identity.attempt,
        failures=identity.failures,
        data=data,
        content="here" if data else "apart" if is_apart else "absent",
        created=_seconds(metadata.creation_timestamp),
        phase=phase,
        running=bool(last and last.running),
        hindrance=hindrance.why if hindrance else "",
        hindered_by=hindrance.kind if hindrance else "",
        overdue=last.overdue if last and phase == "active" else None,
        superseded=SUPERSEDED_LABEL in labels,
        finished=_seconds(found.status.completion_time or over.last_transition_time) if over else None,
        unscheduled=last.unscheduled if last else 0.0,
        exit_code=exit_code,
        message=message,
        template=labels.get(TEMPLATE_LABEL, ""),
        node_selector=tuple(sorted((found.spec.template.spec.node_selector or {}).items())),
        reason=reason,
        held=held is not None,
        done=DONE_LABEL in labels,
        deleting=metadata.deletion_timestamp is not None,
        resource_version=metadata.resource_version,
    )


def is_large(found: JobObject) -> bool:
    """A ConfigMap has its item, or is to have it."""
    return LARGE in (found.metadata.annotations or {})


def is_held(found: JobObject) -> bool:
    """It only holds an item, and never has a pod."""
    return REASON_ANNOTATION in (found.metadata.annotations or {})


def finished_condition(found: JobObject) -> Condition | None:
    """The condition that says that the Job is over."""
    for condition in found.status.conditions or ():
        if condition.type in ("Complete", "Failed") and condition.status == "True":
            return condition
    return None


def _failure(over: Condition, last: Ending | None) -> tuple[Phase, str]:
    if last is None:
        return "lost", f"its pod is gone: {over.message or over.reason}"
    if last.reason == "DeadlineExceeded" and last.started:
        return "failed", "it ran for longer than its timeout"
    if last.exit_code is None:
        hindrance = last.hindrance.why if last.hindrance else ""
        return "lost", f"it never ran: {hindrance or last.reason or over.message or over.reason}"
    if last.reason in ("Evicted", "NodeLost", "Shutdown", "Terminated", "NodeShutdown"):
        return "lost", f"its node ended it: {last.reason}"
    known = {"OOMKilled": "it used more memory than its limit"}
    return "failed", known.get(last.reason, f"exit code {last.exit_code}")


def _hindrance(pod: Pod, containers: list[ContainerStatus]) -> Obstacle | None:
    for condition in pod.status.conditions or ():
        if (condition.type, condition.status, condition.reason) == ("PodScheduled", "False", "Unschedulable"):
            return Obstacle("node", f"no node takes its pod: {condition.message}")
    for container in containers:
        waiting = container.state.waiting
        if waiting and waiting.reason in HINDRANCES:
            why = f"container {container.name}: {waiting.reason}: {waiting.message}"
            return Obstacle(HINDRANCES[waiting.reason], why)
        terminated = container.state.terminated
        if terminated and terminated.reason in CANNOT_START:
            why = f"container {container.name}: {terminated.reason}: {terminated.message}"
            return Obstacle("program", why)
    return None


def _has_started(container: ContainerStatus) -> bool:
    terminated = container.state.terminated
    return bool(container.state.running or (terminated and terminated.reason not in CANNOT_START))


def _overdue(pod: Pod) -> float | None:
    """A node that answers would have made its pod end by then: the time of deletion includes the grace."""
    ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions or ())
    ended = pod.status.phase in ("Succeeded", "Failed")
    return None if ready or ended else _optional(pod.metadata.deletion_timestamp)


def _unscheduled(pod: Pod) -> float:
    created = _seconds(pod.metadata.creation_timestamp)
    for condition in pod.status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "True":
            return max(0.0, _seconds(condition.last_transition_time) - created)
    return 0.0


def _code(status: ContainerStatus) -> int:
    return status.state.terminated.exit_code if status.state.terminated else 0


def _optional(time: datetime | None) -> float | None:
    return time.timestamp() if time else None


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time else 0.0
