"""Whether an item failed or its attempt was lost: only a container that started can fail an item."""

import json
from typing import Any

import msgspec
import pytest

from wqc.runtime.queue.attempt import Identity
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.kubernetes.known import Known
from wqc.runtime.stores.kubernetes.objects import JobObject, Pod
from wqc.runtime.stores.kubernetes.reading import ending, read_job

START, END = "2026-01-01T00:00:00Z", "2026-01-01T00:01:40Z"


def job(condition: str | None, **status: Any) -> JobObject:
    conditions = (
        [{"type": condition, "status": "True", "reason": "R", "lastTransitionTime": END}] if condition else []
    )
    annotations = {"wqc/item": Identity("a", "1", 0, 2, 1).text()}
    return msgspec.convert(
        {
            "metadata": {
                "name": "demo-work-x-2",
                "creationTimestamp": START,
                "labels": {"wqc/queue": "work"},
                "annotations": annotations,
            },
            "spec": {"template": {"metadata": {"annotations": {"wqc/item": '{"n":1}'}}}},
            "status": {"conditions": conditions, **status},
        },
        JobObject,
    )


def pod(worker: dict[str, Any] | None = None, init: dict[str, Any] | None = None, **status: Any) -> Pod:
    body = {
        "metadata": {"name": "p", "creationTimestamp": START},
        "status": {
            "containerStatuses": [{"name": "worker", "state": worker or {}}],
            "initContainerStatuses": [{"name": "fetch", "state": init}] if init else [],
            **status,
        },
    }
    return msgspec.json.decode(json.dumps(body), type=Pod)


def ended(code: int, message: str = "", reason: str = "Error") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "message": message, "reason": reason}}


def read(condition: str | None, its: Pod | None) -> Job:
    return read_job(job(condition), ending(its) if its else None)


def test_a_watch_that_tells_again_that_it_ran_does_not_take_back_how_it_ended() -> None:
    known = Known()
    name = job(None).metadata.name
    labels = {"batch.kubernetes.io/job-name": name}
    running, over = pod({"running": {}}), pod(ended(0, "[1]", "Completed"))
    for each in (running, over):
        each.metadata.labels = labels
    with known.creating(name):
        for told in (running, over, running):
            known.pod(told)
    found = known.ending(name)
    assert found
    assert (found.exit_code, found.message) == (0, "[1]")

    following = pod({"running": {}})
    following.metadata.labels, following.metadata.name = labels, "q"
    with known.creating(name):
        known.pod(following)
    assert known.ending(name) == ending(following)


def test_a_success_has_its_result() -> None:
    found = read("Complete", pod(ended(0, "[1]", "Completed")))
    assert (found.phase, found.exit_code, found.message, found.data) == ("succeeded", 0, "[1]", '{"n":1}')
    assert (found.finished or 0) - found.created == 100.0


def test_a_success_without_its_pod_has_none() -> None:
    assert read("Complete", None).message is None


@pytest.mark.parametrize(
    ("its", "phase", "code", "reason"),
    [
        (pod(ended(3, "oops")), "failed", 3, "exit code 3"),
        (pod(ended(137, reason="OOMKilled")), "failed", 137, "it used more memory than its limit"),
        (pod(init=ended(4)), "failed", 4, "exit code 4"),
        (
            pod(ended(143), reason="DeadlineExceeded"),
            "failed",
            143,
            "it ran for longer than its timeout",
        ),
        (pod({"waiting": {}}, reason="DeadlineExceeded"), "lost", None, "it never ran: DeadlineExceeded"),
        (pod(ended(137), reason="Evicted"), "lost", 137, "its node ended it: Evicted"),
        (
            pod(ended(128, "no sh in $PATH", "StartError")),
            "lost",
            None,
            "it never ran: container worker: StartError: no sh in $PATH",
        ),
        (
            pod(ended(128, "no sh in $PATH", "StartError"), init=ended(0)),
            "lost",
            None,
            "it never ran: container worker: StartError: no sh in $PATH",
        ),
        (None, "lost", None, "its pod is gone: R"),
    ],
)
def test_what_a_failed_job_means(its: Pod | None, phase: str, code: int | None, reason: str) -> None:
    found = read("Failed", its)
    assert (found.phase, found.exit_code, found.reason) == (phase, code, reason)


@pytest.mark.parametrize(
    ("its", "kind", "hindrance"),
    [
        (pod({"running": {}}), "", ""),
        (pod({"waiting": {"reason": "ContainerCreating"}}), "", ""),
        (
            pod({"waiting": {"reason": "ErrImagePull", "message": "not found"}}),
            "image",
            "container worker: ErrImagePull: not found",
        ),
        (
            pod({"waiting": {"reason": "CreateContainerConfigError", "message": 'no secret "x"'}}),
            "config",
            'container worker: CreateContainerConfigError: no secret "x"',
        ),
        (
            pod(init={"waiting": {"reason": "RunContainerError", "message": "no sh in $PATH"}}),
            "program",
            "container fetch: RunContainerError: no sh in $PATH",
        ),
        (
            pod(ended(128, "no sh in $PATH", "StartError")),
            "program",
            "container worker: StartError: no sh in $PATH",
        ),
        (
            pod(
                conditions=[
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "no cpu",
                    }
                ]
            ),
            "node",
            "no node takes its pod: no cpu",
        ),
    ],
)
def test_what_is_in_the_way_of_a_pod(its: Pod, kind: str, hindrance: str) -> None:
    found = read(None, its)
    assert (found.phase, found.hindered_by, found.hindrance) == ("active", kind, hindrance)


def test_waiting_for_a_node_is_no_slot_time() -> None:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:30Z"}
    assert read("Complete", pod(ended(0), conditions=[scheduled])).unscheduled == 30.0


def test_a_job_that_says_no_item_is_refused() -> None:
    nameless = job("Complete")
    nameless.metadata.annotations = None
    with pytest.raises(ValueError, match="not an item's identity"):
        read_job(nameless, None)
