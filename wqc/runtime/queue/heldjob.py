"""The Job of an item that failed before a worker could have it (promise 14).

It is suspended and has no pod, and none if somebody resumes it. An Indexed Job may be told afterwards that it
is to complete nothing: then it is complete, and can go away like the others.
"""

from typing import Any

from wqc.contract.names import REASON_ANNOTATION
from wqc.contract.settings import Lane, Parallelism
from wqc.runtime.queue.attempt import Identity, job_manifest

NOWHERE = Lane("", Parallelism(0, 0))
IMAGE = "wqc.invalid/held"
"""A Job has to name one; by RFC 2606 there is none at this address."""
LONGEST_REASON = 4096
"""Characters."""

_CONTAINER = {
    "name": "held",
    "image": IMAGE,
    "resources": {
        "requests": {"cpu": "1m", "memory": "1Mi"},
        "limits": {"cpu": "1m", "memory": "1Mi"},
    },
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    },
}
_ITEM = {"path": "item.json", "fieldRef": {"fieldPath": "metadata.annotations['wqc/item']"}}


def held_job(
    owner: dict[str, Any],
    workflow: str,
    station: str,
    job: str,
    identity: Identity,
    data: str | None,
    reason: str,
    lane: Lane = NOWHERE,
) -> dict[str, Any]:
    """The Job to create; `data` is None for an item that is too large. `station`: the node or queue.

    Raises ItemTooLarge.
    """
    manifest = job_manifest(_template(), owner, workflow, station, lane, job, identity, data or "null")
    if data is None:
        del manifest["spec"]["template"]["metadata"]["annotations"]
    manifest["metadata"]["annotations"][REASON_ANNOTATION] = reason[:LONGEST_REASON]
    return manifest


def _template() -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {
            "suspend": True,
            "completionMode": "Indexed",
            "completions": 1,
            "parallelism": 0,
            "backoffLimit": 0,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": 10001,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [_CONTAINER],
                    "volumes": [{"name": "item", "downwardAPI": {"items": [_ITEM]}}],
                }
            },
        },
    }
