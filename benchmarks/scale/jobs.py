"""The very Jobs that a manager makes of items, without a manager."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scale.bed import Queue

from cluster.client import Client
from wqc.contract.names import object_name
from wqc.contract.settings import Lane, Parallelism
from wqc.runtime.queue.attempt import Identity, attempt_name, job_manifest

CONNECTIONS = 8
JOBS = "/apis/batch/v1/namespaces/{}/jobs"


def items(count: int) -> list[str]:
    return [f"films/2026/item number {number:06}.mp4" for number in range(count)]


def manifests(client: Client, namespace: str, queue: Queue, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The queue's ConfigMap, which owns them, is there."""
    path = f"/api/v1/namespaces/{namespace}/configmaps/{object_name(namespace, queue.name)}"
    held = client.request("GET", path).body["metadata"]
    owner = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": held["name"],
        "uid": held["uid"],
        "controller": True,
    }
    lane = Lane("", Parallelism(queue.at_once, queue.at_once))
    for name in names:
        identity = Identity(name, "", 0, 1, 0)
        job = attempt_name(namespace, queue.name, "", identity)
        data = f'"{name}"'
        yield job_manifest(queue.template, owner, namespace, queue.name, lane, job, identity, data)


def create(client: Client, namespace: str, made: Iterable[dict[str, Any]], pods: bool = False) -> None:
    """Through several connections. `pods`: as if controllers and a node had them running."""

    def one(manifest: dict[str, Any]) -> None:
        answer = client.create(manifest, namespace)
        assert answer.status == 201, answer.body
        if pods:
            _run(client, namespace, answer.body)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for _ in pool.map(one, made):
            pass


def _run(client: Client, namespace: str, job: dict[str, Any]) -> None:
    name, template = job["metadata"]["name"], job["spec"]["template"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job["metadata"]["uid"]}
    metadata = template["metadata"] | {"name": f"{name}-x", "ownerReferences": [owner | {"controller": True}]}
    spec = template["spec"] | {"nodeName": "simulated-0"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    answer = client.create(pod, namespace)
    assert answer.status == 201, answer.body
    started = {"running": {"startedAt": job["metadata"]["creationTimestamp"]}}
    container = {"name": "worker", "image": "busybox", "imageID": "", "restartCount": 0, "ready": True}
    status = {"phase": "Running", "containerStatuses": [container | {"state": started}]}
    path = f"/api/v1/namespaces/{namespace}/pods/{name}-x/status"
    assert client.request("PATCH", path, {"status": status}).status == 200
    path = f"{JOBS.format(namespace)}/{name}/status"
    active = {"active": 1, "ready": 1, "startTime": job["metadata"]["creationTimestamp"]}
    assert client.request("PATCH", path, {"status": active}).status == 200
