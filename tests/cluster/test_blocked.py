"""What keeps a queue's pods from being made or from starting, and shows in Events alone, is said in words."""

import asyncio
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.client import Client
from cluster.deployed import item_of
from cluster.test_manager import PERIODS, Crash
from wqc.runtime.obstacles import Obstacle
from wqc.runtime.stores.kubernetes.transport import Transport
from wqc.runtime.stores.kubernetes.warnings import last_warning

SECONDS = 120


@contextmanager
def managed(deployed: Crash) -> Iterator[subprocess.Popen[bytes]]:
    deployed.environment["WQC_PERIODS"] = PERIODS.replace("lease=3", "lease=6 patience=1 report=0.5")
    manager = deployed.start()
    try:
        yield manager
    finally:
        manager.terminate()
        manager.wait(timeout=30)


def blocked(deployed: Crash, entry: str = "blocked") -> str:
    """What the status in the workflow's state says of the queue `first`."""
    found = deployed.client.request("GET", f"{deployed.core}/configmaps/crash-state")
    text = (found.body.get("data") or {}).get("status", "")
    queues: list[dict[str, Any]] = json.loads(text)["status"]["queues"] if text else []
    return next((each[entry] for each in queues if each["queue"] == "first"), "")


def announced(deployed: Crash) -> list[tuple[str, str]]:
    """Reasons and messages of the Events of the queue `first`."""
    selector = "involvedObject.kind=ConfigMap,involvedObject.name=crash-first"
    found = deployed.client.request("GET", f"{deployed.core}/events", fieldSelector=selector).body["items"]
    found.sort(key=lambda each: (each["lastTimestamp"], each["reason"]))
    return [(each["reason"], each["message"]) for each in found]


def until_blocked(deployed: Crash, reason: str) -> None:
    end = time.monotonic() + SECONDS
    while reason not in blocked(deployed):
        assert time.monotonic() < end, f"{blocked(deployed)}\n{deployed.log.read_text()[-4000:]}"
        time.sleep(0.3)


def until_over(deployed: Crash, count: int) -> None:
    """And nobody counted an attempt at what never ran."""
    end = time.monotonic() + SECONDS
    while not deployed.is_over(count):
        assert time.monotonic() < end, deployed.log.read_text()[-4000:]
        time.sleep(0.3)
    identities = [json.loads(job["metadata"]["annotations"]["wqc/item"]) for job in deployed.jobs()]
    assert [(each["attempt"], each["failures"]) for each in identities] == [(1, 0)] * 2 * count


def template_of(deployed: Crash) -> dict[str, Any]:
    found = deployed.client.request("GET", f"{deployed.core}/configmaps/crash-first")
    template: dict[str, Any] = yaml.safe_load(found.body["data"]["job.yaml"])
    return template


def put(deployed: Crash, key: str, value: Any) -> None:
    """Into the ConfigMap of the queue `first`."""
    path = f"{deployed.core}/configmaps/crash-first"
    patch = {"data": {key: yaml.safe_dump(value)}}
    assert deployed.client.request("PATCH", path, patch).status == 200


@pytest.mark.parametrize("key", ["job.yaml", "settings.yaml"])
def test_a_template_or_a_lane_that_is_mended(simulated_cluster: Client, tmp_path: Path, key: str) -> None:
    """What waits for what isn't there any more to be had is tried anew, and counts as no attempt."""
    deployed = Crash(simulated_cluster, f"mended-{key[0]}", tmp_path, ["a", "b", "c"])
    nowhere = {"test/place": "nowhere"}
    template = template_of(deployed)
    lane: dict[str, Any] = {"name": "", "parallelism": {"min": 2, "max": 2}}
    settings = {"queue": "first", "lanes": [lane], "result": "required"}
    if key == "job.yaml":
        template["spec"]["template"]["spec"]["nodeSelector"] = nowhere
    else:
        settings["lanes"] = [lane | {"node_selector": nowhere}]
    put(deployed, "settings.yaml", settings)
    put(deployed, "job.yaml", template)
    with managed(deployed):
        until_blocked(deployed, "no node takes its pod")
        assert {item_of(job)["attempt"] for job in deployed.jobs()} == {1}
    template["spec"]["template"]["spec"].pop("nodeSelector", None)
    put(deployed, "settings.yaml", settings | {"lanes": [lane]})
    put(deployed, "job.yaml", template)
    with managed(deployed):
        deployed.wait("all is done", lambda: len(deployed.recorded("second")) == 3, SECONDS)
        deployed.wait("nothing is in the way", lambda: not blocked(deployed))
    first = [item_of(job) for job in deployed.jobs() if job["metadata"]["labels"]["wqc/queue"] == "first"]
    assert {each["failures"] for each in first} == {0}
    assert max(each["attempt"] for each in first) == 2


def test_a_quota_of_pods(simulated_cluster: Client, tmp_path: Path) -> None:
    deployed = Crash(simulated_cluster, "quota", tmp_path, ["a", "b"])
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}}
    assert simulated_cluster.create(quota | {"spec": {"hard": {"pods": "0"}}}, "quota").status == 201
    with managed(deployed):
        until_blocked(deployed, "its pod is forbidden: exceeded quota: few")
        assert blocked(deployed, "blocked_by") == "admission"
        enough = {"spec": {"hard": {"pods": "100"}}}
        assert simulated_cluster.request("PATCH", f"{deployed.core}/resourcequotas/few", enough).status == 200
        until_over(deployed, 2)
        end = time.monotonic() + SECONDS
        while blocked(deployed) or "GoesOn" not in [reason for reason, _ in announced(deployed)]:
            assert time.monotonic() < end, announced(deployed)
            time.sleep(0.3)
    events = announced(deployed)
    assert [reason for reason, _ in events] == ["Blocked", "GoesOn"], "none of single items"
    why = "FailedCreate: Error creating: its pod is forbidden: exceeded quota: few"
    assert events[0][1].startswith((f"first is blocked: a: {why}", f"first is blocked: b: {why}"))


def test_pod_security(simulated_cluster: Client, tmp_path: Path) -> None:
    deployed = Crash(simulated_cluster, "strict", tmp_path, ["a"])
    enforce = "pod-security.kubernetes.io/enforce"
    labels: dict[str, Any] = {"metadata": {"labels": {enforce: "restricted"}}}
    simulated_cluster.request("PATCH", "/api/v1/namespaces/strict", labels)
    with managed(deployed):
        until_blocked(deployed, "violates PodSecurity")
        labels["metadata"]["labels"][enforce] = None
        simulated_cluster.request("PATCH", "/api/v1/namespaces/strict", labels)
        until_over(deployed, 1)


def test_a_limit_range(simulated_cluster: Client, tmp_path: Path) -> None:
    deployed = Crash(simulated_cluster, "limits", tmp_path, ["a"])
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small"}}
    limit = {"type": "Pod", "min": {"memory": "1Gi"}}
    assert simulated_cluster.create(limits | {"spec": {"limits": [limit]}}, "limits").status == 201
    with managed(deployed):
        until_blocked(deployed, "minimum memory usage per Pod is 1Gi")
        simulated_cluster.request("DELETE", f"{deployed.core}/limitranges/small")
        until_over(deployed, 1)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("FailedMount", Obstacle("volume", 'FailedMount: no volume "media"')), ("BackOff", None)],
)
def test_the_newest_reason_that_hinders(api_server: Client, reason: str, expected: Obstacle | None) -> None:
    for number, message in enumerate(("an older one", 'no volume "media"')):
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{reason.lower()}-{number}"},
            "involvedObject": {"kind": "Pod", "name": reason.lower(), "namespace": "default"},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "lastTimestamp": f"2026-01-0{number + 1}T00:00:00Z",
        }
        assert api_server.create(event).status == 201
    found = asyncio.run(last_warning(Transport(api_server.api), "default", "Pod", reason.lower()))
    assert found == expected
