"""A node that is lost with a pod on it: another attempt starts, and whichever ends first counts."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.client import Client
from cluster.test_manager import PERIODS, Crash
from wqc.contract.names import item_hash

SECONDS = 120
STUCK = "test/its-node-is-lost"
"""A finalizer: it keeps the pod, as a kubelet would that nobody hears of."""


def until(deployed: Crash, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, deployed.log.read_text()[-4000:]
        time.sleep(0.2)


def pods(deployed: Crash, attempt: int) -> list[dict[str, Any]]:
    """Of the first queue's attempt."""
    found: list[dict[str, Any]] = deployed.client.request("GET", f"{deployed.core}/pods").body["items"]
    return [
        pod
        for pod in found
        if pod["metadata"]["labels"]["wqc/queue"] == "first"
        and pod["metadata"]["labels"]["batch.kubernetes.io/job-name"].endswith(f"-{attempt}")
    ]


def running(deployed: Crash, attempt: int) -> bool:
    return any(pod["status"].get("phase") == "Running" for pod in pods(deployed, attempt))


def attempts(deployed: Crash) -> list[dict[str, Any]]:
    """The first queue's Jobs."""
    return [job for job in deployed.jobs() if job["metadata"]["labels"]["wqc/queue"] == "first"]


def end(deployed: Crash, attempt: int, result: str) -> None:
    """The attempt's pod succeeds."""
    (pod,) = pods(deployed, attempt)
    path = f"{deployed.core}/pods/{pod['metadata']['name']}"
    terminated = {"exitCode": 0, "reason": "Completed", "message": result}
    status = {"name": "worker", "image": "busybox", "imageID": "", "ready": False, "restartCount": 0}
    patch = {"phase": "Succeeded", "containerStatuses": [status | {"state": {"terminated": terminated}}]}
    assert deployed.client.request("PATCH", f"{path}/status", {"status": patch}).status == 200
    kept = [each for each in pod["metadata"].get("finalizers", []) if each != STUCK]
    deployed.client.request("PATCH", path, {"metadata": {"finalizers": kept}})


def lose(deployed: Crash) -> None:
    """What the control plane does to the pod of a node that it hears nothing of."""
    (pod,) = pods(deployed, 1)
    path = f"{deployed.core}/pods/{pod['metadata']['name']}"
    finalizers = [*pod["metadata"].get("finalizers", []), STUCK]
    assert deployed.client.request("PATCH", path, {"metadata": {"finalizers": finalizers}}).status == 200
    conditions = [each for each in pod["status"]["conditions"] if each["type"] != "Ready"]
    conditions.append({"type": "Ready", "status": "False", "reason": "NodeNotReady"})
    patch = {"status": {"conditions": conditions}}
    assert deployed.client.request("PATCH", f"{path}/status", patch).status == 200
    assert deployed.client.request("DELETE", path, {"gracePeriodSeconds": 1}).status == 200


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_whichever_attempt_ends_first_counts(
    simulated_cluster: Client, tmp_path: Path, first: int, second: int
) -> None:
    deployed = Crash(simulated_cluster, f"lost-{first}", tmp_path, ["only"])
    deployed.environment["WQC_PERIODS"] = PERIODS.replace("lease=3", "lease=6 lost_node=2")
    path = f"{deployed.core}/configmaps/crash-first"
    template = yaml.safe_load(simulated_cluster.request("GET", path).body["data"]["job.yaml"])
    template["spec"]["podReplacementPolicy"] = "Failed"
    template["spec"]["template"]["metadata"]["annotations"]["simulated/takes"] = "600s"
    simulated_cluster.request("PATCH", path, {"data": {"job.yaml": yaml.safe_dump(template)}})
    manager = deployed.start()
    try:
        until(deployed, lambda: running(deployed, 1))
        lose(deployed)
        until(deployed, lambda: running(deployed, 2))
        lost, another = sorted(attempts(deployed), key=lambda job: job["metadata"]["name"])
        assert "wqc/superseded" in lost["metadata"]["labels"]
        assert "wqc/superseded" not in another["metadata"]["labels"]
        assert json.loads(another["metadata"]["annotations"]["wqc/item"])["failures"] == 0
        end(deployed, first, '{"n": "first"}')
        until(deployed, lambda: bool(deployed.recorded("second")))
        end(deployed, second, '{"n": "second"}')
        until(deployed, lambda: all("wqc/done" in job["metadata"]["labels"] for job in deployed.jobs()))
    finally:
        manager.terminate()
        manager.wait(timeout=30)
    assert len(attempts(deployed)) == 2
    (handed_on,) = [job for job in deployed.jobs() if job["metadata"]["labels"]["wqc/queue"] == "second"]
    annotations = handed_on["spec"]["template"]["metadata"]["annotations"]
    assert json.loads(annotations["wqc/item"]) == {"n": "first"}
    for queue in ("first", "second"):
        assert list(deployed.recorded(queue).elements()) == [item_hash("only", "")]
