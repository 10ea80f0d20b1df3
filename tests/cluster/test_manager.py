"""A generated manager on simulated nodes, killed again and again: nothing is lost, nothing repeated."""

import json
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import yaml
from prometheus_client.parser import text_string_to_metric_families

from cluster.client import Client
from cluster.deployed import Deployed, is_done
from support.localrun import job_template, queue_files
from support.ports import free_port
from wqc.contract.names import item_hash

MANAGER = '''"""The manager of the workflow crash. wqc made it from crash.wq: edit that file, not this one."""
from wqc.runtime import Workflow

workflow = Workflow("crash")

names = workflow.source("names")
first = workflow.queue("first", names)
second = workflow.queue("second", first)

if __name__ == "__main__":
    workflow.run()
'''
PERIODS = "backoff=0.2 backoff_limit=1 flush=0.5 listing=0.5 refused=0.1 lease=3"


class Crash(Deployed):
    """The workflow crash, over these items; its first queue's workers have a result."""

    def __init__(self, client: Client, namespace: str, folder: Path, items: list[str]) -> None:
        queues = {"crash-manager": {"manager.py": MANAGER}}
        for queue, result in (("first", '{"n": 1}'), ("second", "")):
            template = yaml.safe_load(job_template("true"))
            template["spec"]["template"]["metadata"] = {"annotations": {"simulated/result": result}}
            settings = queue_files(queue, "true", result="required" if result else "none").settings
            queues[f"crash-{queue}"] = {"settings.yaml": settings, "job.yaml": yaml.safe_dump(template)}
        source = {"source": "names", "kind": "items", "options": {"items": items}}
        files = {"names/source.yaml": yaml.safe_dump(source)}
        super().__init__(client, namespace, folder, MANAGER, files, queues, PERIODS)

    def is_over(self, count: int) -> bool:
        return sum(map(is_done, self.jobs())) == 2 * count


def test_a_manager_that_is_killed_again_and_again(simulated_cluster: Client, tmp_path: Path) -> None:
    items = [f"item {number}" for number in range(20)]
    deployed = Crash(simulated_cluster, "crash", tmp_path, items)
    chance = random.Random(20)
    until = time.monotonic() + 180
    kills = 0
    while not deployed.is_over(len(items)):
        assert time.monotonic() < until, deployed.log.read_text()[-4000:]
        manager = deployed.start()
        try:
            # an interpreter with the official client takes about a second to start
            manager.wait(timeout=chance.uniform(1.5, 6.0))
            raise AssertionError(f"the manager ended by itself: {deployed.log.read_text()[-4000:]}")
        except subprocess.TimeoutExpired:
            manager.kill()
            manager.wait()
            kills += 1
    assert kills > 1
    for queue in ("first", "second"):
        assert deployed.recorded(queue) == Counter(item_hash(name, "") for name in items)
    worked = Counter(
        (
            job["metadata"]["labels"]["wqc/queue"],
            json.loads(job["metadata"]["annotations"]["wqc/item"])["name"],
        )
        for job in deployed.jobs()
    )
    assert worked == Counter((queue, name) for queue in ("first", "second") for name in items)
    handed_on = {
        job["spec"]["template"]["metadata"]["annotations"]["wqc/item"]
        for job in deployed.jobs()
        if job["metadata"]["labels"]["wqc/queue"] == "second"
    }
    assert handed_on == {'{"n": 1}'}


def test_a_manager_says_how_it_is_and_stops_when_it_is_told_to(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    deployed = Crash(simulated_cluster, "stop", tmp_path, ["only"])
    manager = deployed.start()
    until = time.monotonic() + 60
    while not deployed.is_over(1):
        assert time.monotonic() < until, deployed.log.read_text()[-4000:]
        time.sleep(0.2)
    assert deployed.says("/healthz") == (200, "alive\n")
    assert deployed.says("/readyz") == (200, "ready\n")
    status, text = deployed.says("/metrics")
    assert status == 200
    measured = {
        (sample.name, *(value for key, value in sample.labels.items() if key != "workflow")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels["workflow"] == "crash"
    }
    assert measured["wqc_items", "second", "done"] == 1
    assert measured["wqc_source_up", "names"] == 1
    assert measured["wqc_oldest_waiting_seconds", "first"] == 0
    assert measured["wqc_utilisation", "first"] == 0
    assert 0 < measured["wqc_slot_seconds", "first"] < 60
    assert measured["wqc_api_requests_total", "create", "jobs", "201"] == 2
    assert measured["wqc_api_requests_total", "patch", "jobs", "200"] == 2
    assert measured["wqc_api_requests_total", "watch", "jobs", "200"] >= 1
    assert measured["wqc_api_requests_total", "list", "pods", "200"] == 1
    assert 0 <= measured["wqc_watch_age_seconds", "jobs"] < 70
    manager.terminate()
    assert manager.wait(timeout=10) == 0
    lease = "/apis/coordination.k8s.io/v1/namespaces/stop/leases/crash-manager"
    assert simulated_cluster.request("GET", lease).body["spec"].get("holderIdentity", "") == ""
    for line in deployed.log.read_text().splitlines():
        assert {"time", "level", "text"} <= json.loads(line).keys()


def test_a_queue_whose_pods_no_node_takes_says_so_and_fails_no_item(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    deployed = Crash(simulated_cluster, "nowhere", tmp_path, ["a", "b"])
    path = f"{deployed.core}/configmaps/crash-first"
    settings = simulated_cluster.request("GET", path).body["data"]
    template = yaml.safe_load(settings["job.yaml"])
    template["spec"]["template"]["spec"]["nodeSelector"] = {"test/place": "nowhere"}
    simulated_cluster.request("PATCH", path, {"data": {"job.yaml": yaml.safe_dump(template)}})
    manager = deployed.start()
    until = time.monotonic() + 60
    try:
        blocked = 'wqc_queue_blocked{workflow="crash",queue="first",reason='
        while f'{blocked}"node"}} 1' not in deployed.says("/metrics")[1]:
            assert time.monotonic() < until, deployed.log.read_text()[-4000:]
            time.sleep(0.2)
        labels = {"metadata": {"labels": {"test/place": "nowhere"}}}
        assert simulated_cluster.request("PATCH", "/api/v1/nodes/simulated-0", labels).status == 200
        while not deployed.is_over(2):
            assert time.monotonic() < until, deployed.log.read_text()[-4000:]
            time.sleep(0.2)
        assert f'{blocked}""}} 0' in deployed.says("/metrics")[1]
    finally:
        manager.terminate()
        manager.wait(timeout=10)
    attempts = [json.loads(job["metadata"]["annotations"]["wqc/item"]) for job in deployed.jobs()]
    assert [(each["attempt"], each["failures"]) for each in attempts] == [(1, 0)] * 4


def test_of_two_managers_one_waits_and_takes_over(simulated_cluster: Client, tmp_path: Path) -> None:
    items = [f"item {number}" for number in range(12)]
    deployed = Crash(simulated_cluster, "two", tmp_path, items)
    first = deployed.start()
    until = time.monotonic() + 60
    while len(deployed.jobs()) < 3:
        assert time.monotonic() < until, deployed.log.read_text()[-4000:]
        time.sleep(0.05)
    deployed.environment["WQC_PORT"] = str(free_port())
    second = deployed.start()
    while "waits for the lease" not in deployed.log.read_text():
        assert time.monotonic() < until, deployed.log.read_text()[-4000:]
        time.sleep(0.05)
    first.kill()
    first.wait()
    until = time.monotonic() + 60
    while not deployed.is_over(len(items)):
        assert second.poll() is None
        assert time.monotonic() < until, deployed.log.read_text()[-4000:]
        time.sleep(0.2)
    second.terminate()
    assert second.wait(timeout=10) == 0
    assert len(deployed.jobs()) == 2 * len(items)
    for queue in ("first", "second"):
        assert deployed.recorded(queue) == Counter(item_hash(name, "") for name in items)
