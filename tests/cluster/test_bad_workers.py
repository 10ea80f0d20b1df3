"""Workers that can't start or don't keep their word, on a real node: their queues and items are named."""

import re
import shutil
from functools import partial
from pathlib import Path

import pytest

from cluster.client import Client
from cluster.given_cluster import GivenCluster
from cluster.image import Image
from cluster.interpreter import program
from cluster.managed import Managed, identity
from cluster.real_node import RealNode
from cluster.workers import shell_image
from support.command import wqc
from support.need import unavailable

WORKER = "test.local/bad-workers/worker:1"
SHELL_LESS = "test.local/bad-workers/shell-less:1"
ABSENT = "test.local/bad-workers/absent:1"
BLOCKED = {
    "no_image": ("a: container worker: Err", ABSENT),
    "no_shell": ("a: container worker: StartError: ", 'exec: "sh"'),
    "no_volume": ("a: no node takes its pod: ", 'persistentvolumeclaim "absent" not found'),
}
KINDS = {"no_image": "image", "no_shell": "program", "no_volume": "node"}
FAILING = {
    "no_result": "the worker ended well but wrote no result to WORK_RESULT_FILE",
    "no_json": "the result is not JSON",
    "too_long": "the result is larger than 4095 bytes",
}
WORKFLOW = f"""
source names: items {{ items = ["a", "b"] }}
copier every {{ from = names }}
worker good      {{ image = "{WORKER}", run = "true" }}
worker shellless {{ image = "{SHELL_LESS}", run = "true" }}
worker absent    {{ image = "{ABSENT}", run = "true" }}
worker mounting  {{ image = "{WORKER}", run = "true", mounts = {{ "/data" = pvc("absent") }} }}
worker garbling  {{ image = "{WORKER}", run = "echo at a loss >&2; echo hello >$WORK_RESULT_FILE" }}
worker long      {{ image = "{WORKER}", run = "head -c 5000 /dev/zero | tr '\\\\0' 1 >$WORK_RESULT_FILE" }}
queue fine      {{ from = every, worker = good }}
queue no_shell  {{ from = every, worker = shellless }}
queue no_image  {{ from = every, worker = absent }}
queue no_volume {{ from = every, worker = mounting }}
queue no_result {{ from = every, worker = good, result = required, retries = 0 }}
queue no_json   {{ from = every, worker = garbling, result = required, retries = 0 }}
queue too_long  {{ from = every, worker = long, result = required, retries = 0 }}
"""


@pytest.fixture
def node(real_node: RealNode | GivenCluster, tmp_path: Path) -> RealNode:
    if not isinstance(real_node, RealNode):
        unavailable("images of these tests are put on the node on this machine: unset WQC_TEST_KUBECONFIG")
    shell_image(real_node, WORKER, tmp_path / "worker")
    bare = tmp_path / "bare"
    (bare / "bin").mkdir(parents=True)
    shutil.copy(
        program("busybox", "busybox, statically linked (Debian: busybox-static)"), bare / "bin/busybox"
    )
    real_node.load_image(Image([SHELL_LESS], [bare], ["busybox"]))
    return real_node


def volume(workflow: Managed, folder: Path) -> None:
    """The claim that was absent."""
    folder.mkdir(mode=0o777)
    amount = {"storage": "1Mi"}
    common = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    claim = {"namespace": workflow.namespace, "name": "absent"}
    workflow.put(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "bad-workers"},
            "spec": {**common, "capacity": amount, "hostPath": {"path": str(folder)}, "claimRef": claim},
        }
    )
    spec = {**common, "volumeName": "bad-workers", "resources": {"requests": amount}}
    claimed = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "absent"}}
    workflow.put(claimed | {"spec": spec})


def says_why(workflow: Managed, queue: str, parts: tuple[str, ...]) -> bool:
    return all(part in workflow.blocked(queue) for part in parts)


def has_event(workflow: Managed, queue: str, parts: tuple[str, ...]) -> bool:
    said = [text for reason, text in workflow.events(queue) if reason == "Blocked"]
    return any(all(part in text for part in parts) for text in said)


def test_they_are_named_and_keep_nobody_else_from_working(node: RealNode, tmp_path: Path) -> None:
    client = Client(node.kubeconfig)
    periods = "patience=1 announce=1 report=0.5 backoff=1 backoff_limit=3"
    with Managed(client, "bad", "bad-workers", tmp_path / "run", WORKFLOW, periods) as workflow:
        workflow.start()
        workflow.until("the good queue works", lambda: workflow.is_done("fine", "ab"))
        for queue, parts in BLOCKED.items():
            workflow.until(f"{queue} says why", partial(says_why, workflow, queue, parts))
            assert workflow.status(queue)["blocked_by"] == KINDS[queue]
            workflow.until(
                f"an Event says why {queue} is blocked", partial(has_event, workflow, queue, parts)
            )
        for queue, why in FAILING.items():
            workflow.until(
                f"{queue} has failed items", lambda queue=queue: workflow.status(queue)["failed"] == 2
            )
            failures = workflow.status(queue)["failures"]
            assert {each["item"]: each["reason"].startswith(why) for each in failures} == {
                "a": True,
                "b": True,
            }
            (reason, said), *_ = workflow.events(queue)
            assert reason == "ItemsFailed"
            assert said.startswith((f"{queue}: a failed: {why}", f"{queue}: b failed: {why}"))
        shown = wqc("status", "-n", "bad-workers", folder=tmp_path, KUBECONFIG=str(node.kubeconfig))
        assert (shown.status, shown.err) == (1, "")
        for item in "ab":
            assert re.search(
                f"^no_json: {item} failed: {FAILING['no_json']}.*\n    at a loss$", shown.out, re.M
            )
        for queue in BLOCKED:
            names = {identity(job)["name"] for job in workflow.jobs(queue)}
            assert names == {"a"}, f"{queue}: what is in the way of one is in the way of all"

        volume(workflow, tmp_path / "volume")
        shell_image(node, ABSENT, tmp_path / "absent")
        shell_image(node, SHELL_LESS, tmp_path / "mended")
        for queue in BLOCKED:
            workflow.until(f"{queue} works", lambda queue=queue: workflow.is_done(queue, "ab"))
            assert {identity(job)["failures"] for job in workflow.jobs(queue)} == {0}
            workflow.until(f"{queue} is well", lambda queue=queue: not workflow.blocked(queue))
