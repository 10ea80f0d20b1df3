"""The real node runs what a cluster runs: images, native sidecars, logs, DNS, the API from inside a pod."""

import shutil
import time

import pytest

from cluster.client import Client
from cluster.image import Image
from cluster.real_node import RealNode
from support.need import unavailable

IMAGE = "test.local/busybox:1"


@pytest.fixture(scope="module")
def busybox(real_node: RealNode, tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("busybox")
    (root / "bin").mkdir()
    program = shutil.which("busybox") or unavailable("busybox, statically linked (Debian: busybox-static)")
    shutil.copy(program, root / "bin" / "busybox")
    for name in ("sh", "nslookup", "sleep"):
        (root / "bin" / name).symlink_to("busybox")
    real_node.load_image(Image([IMAGE], [root], ["/bin/sh"]))
    return IMAGE


def test_a_job_with_a_sidecar_ends_and_its_log_is_read(real_node: RealNode, busybox: str) -> None:
    client = Client(real_node.kubeconfig)
    script = 'echo "I am $(id -u)"; nslookup kubernetes.default.svc.cluster.local'
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": {"runAsUser": 10001, "runAsNonRoot": True},
        "initContainers": [
            {"name": "sidecar", "image": busybox, "command": ["sleep", "600"], "restartPolicy": "Always"}
        ],
        "containers": [{"name": "worker", "image": busybox, "command": ["sh", "-ec", script]}],
        "terminationGracePeriodSeconds": 1,
    }
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "greeting"}}
    manifest["spec"] = {"backoffLimit": 0, "template": {"spec": pod}}
    assert client.create(manifest).status == 201
    job = ended_job(client, "greeting")
    log = pod_log(client, "greeting")
    assert job["status"].get("succeeded") == 1, log
    assert "I am 10001" in log
    assert "10.96.0.1" in log


def ended_job(client: Client, name: str) -> dict:
    until = time.monotonic() + 90
    while time.monotonic() < until:
        job = client.request("GET", f"/apis/batch/v1/namespaces/default/jobs/{name}").body
        if any(each["type"] in ("Complete", "Failed") for each in job["status"].get("conditions", [])):
            return job
        time.sleep(0.3)
    raise AssertionError(f"{name} has not ended: {job['status']}")


def pod_log(client: Client, job: str) -> str:
    selected = {"labelSelector": f"batch.kubernetes.io/job-name={job}"}
    (pod,) = client.request("GET", "/api/v1/namespaces/default/pods", **selected).body["items"]
    return client.text(f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/log", container="worker")
