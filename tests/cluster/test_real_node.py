"""The real node runs what a cluster runs: images, native sidecars, logs, DNS, the API from inside a pod."""

import shutil

import pytest

from cluster.client import Client
from cluster.image import Image
from cluster.jobs import ended_job, pod_log
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
