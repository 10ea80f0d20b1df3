"""An item that fails in a filter is held by a suspended Job, and goes on once the filter is mended."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from cluster.client import Client
from cluster.deployed import Deployed
from support.command import wqc
from support.localrun import job_template, queue_files

PROGRAM = '''"""The manager of the workflow hold. wqc made it from hold.wq: edit that file, not this one."""
from wqc.runtime import Workflow

workflow = Workflow("hold")
names = workflow.source("names")
large = workflow.filter("large", names, where="{where}")
work = workflow.queue("work", large)

if __name__ == "__main__":
    workflow.run()
'''
PERIODS = "backoff=0.2 backoff_limit=1 flush=0.5 listing=0.5 refused=0.1 lease=6 report=0.3"
BROKEN, MENDED = "item.data.size > 1", "has(item.data.width) || item.data.size > 1"
ITEMS = {"good": {"size": 2}, "small": {"size": 0}, "bad": {"width": 3}}


def item(job: dict[str, Any]) -> str:
    name: str = json.loads(job["metadata"]["annotations"]["wqc/item"])["name"]
    return name


def state(deployed: Deployed) -> dict[str, str]:
    """What the workflow's state has."""
    found = deployed.client.request("GET", f"{deployed.core}/configmaps/hold-state").body
    return found.get("data") or {}


def deploy(client: Client, namespace: str, folder: Path) -> Deployed:
    files = queue_files("work", "true")
    return Deployed(
        client,
        namespace,
        folder,
        PROGRAM.format(where=BROKEN),
        {
            "names/source.yaml": yaml.safe_dump(
                {"source": "names", "kind": "items", "options": {"items": ITEMS}}
            )
        },
        {
            "hold-manager": {},
            "hold-work": {"settings.yaml": files.settings, "job.yaml": job_template("true")},
        },
        PERIODS,
    )


def test_held_found_again_and_let_go(simulated_cluster: Client, tmp_path: Path) -> None:
    deployed = deploy(simulated_cluster, "hold", tmp_path)
    kubeconfig = str(simulated_cluster.kubeconfig)

    def of(queue: str) -> list[dict[str, Any]]:
        return [job for job in deployed.jobs() if job["metadata"]["labels"]["wqc/queue"] == queue]

    def until(holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 120
        while not holds():
            assert time.monotonic() < end, deployed.log.read_text()[-4000:]
            time.sleep(0.2)

    def says(text: str) -> bool:
        return text in wqc("status", "-n", "hold", folder=tmp_path, KUBECONFIG=kubeconfig).out

    def announced(reason: str, text: str) -> bool:
        selector = "involvedObject.name=hold-manager"
        found = deployed.client.request("GET", f"{deployed.core}/events", fieldSelector=selector)
        return any(each["reason"] == reason and text in each["message"] for each in found.body["items"])

    manager = deployed.start()
    try:
        until(lambda: says('large: bad failed: where: NOT_FOUND: Key not found in map : "size"\n'))
        until(lambda: announced("ItemsFailed", "large: bad failed: where: NOT_FOUND"))
        until(lambda: len(of("work")) == 1)
        (held,) = of("large")
        assert item(held) == "bad"
        assert [each["name"] for each in held["metadata"]["ownerReferences"]] == ["hold-manager"]
        assert [each["type"] for each in held["status"]["conditions"]] == ["Suspended"]
        # a manager that dies finds it again
        manager.kill()
        manager.wait()
        (tmp_path / "manager.py").write_text(PROGRAM.format(where=MENDED))
        source = {"source": "names", "kind": "items", "options": {"items": {"good": {"size": 2}}}}
        (tmp_path / "settings" / "names" / "source.yaml").write_text(yaml.safe_dump(source))
        manager = deployed.start()
        until(lambda: deployed.says("/readyz")[0] == 200)
        until(lambda: says("large: bad failed"))
        time.sleep(2)
        assert len(of("work")) == 1, "it waits for a person"
        asked = wqc("retry", "large", "bad", "-n", "hold", folder=tmp_path, KUBECONFIG=kubeconfig)
        assert asked.out == "large: 1 item is tried again\n"
        until(lambda: sorted(map(item, of("work"))) == ["bad", "good"])
        until(lambda: "wqc/done" in of("large")[0]["metadata"]["labels"])
        until(lambda: not says("large: bad failed"))
        until(lambda: "Complete" in [each["type"] for each in of("large")[0]["status"]["conditions"]])
        refused = wqc("pause", "large", "-n", "hold", folder=tmp_path, KUBECONFIG=kubeconfig)
        assert refused.err == "wqc: large is no queue, and only queues can be paused; there are work\n"
    finally:
        manager.terminate()
        manager.wait(timeout=30)
    selected = {"labelSelector": "wqc/queue=large"}
    pods = simulated_cluster.request("GET", f"{deployed.core}/pods", **selected).body["items"]
    assert pods == [], "no pod ever started"
    handed = of("work")[[item(job) for job in of("work")].index("bad")]
    assert json.loads(handed["spec"]["template"]["metadata"]["annotations"]["wqc/item"]) == {"width": 3}


def test_what_held_jobs_belong_to_is_deleted_by_hand(simulated_cluster: Client, tmp_path: Path) -> None:
    """They go with it; what is still listed is held anew, by the next manager."""
    deployed = deploy(simulated_cluster, "unheld", tmp_path)
    deployed.environment["WQC_PERIODS"] = f"{PERIODS} owner=1"

    def held() -> list[str]:
        jobs = [job for job in deployed.jobs() if job["metadata"]["labels"]["wqc/queue"] == "large"]
        return [job["metadata"]["uid"] for job in jobs]

    manager = deployed.start()
    deployed.wait("it is held", lambda: len(held()) == 1)
    deployed.wait("it is known", lambda: "owner.manager" in state(deployed))
    before = held()
    own = f"{deployed.core}/configmaps/hold-manager"
    assert simulated_cluster.request("DELETE", own).status == 200
    assert manager.wait(timeout=60) != 0
    assert "manager: its ConfigMap was deleted" in deployed.log.read_text()
    deployed.wait("it is gone", lambda: not set(before) & set(held()))
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hold-manager"}, "data": {}}
    assert simulated_cluster.create(config_map, "unheld").status == 201
    manager = deployed.start()
    try:
        deployed.wait("it is held again", lambda: len(held()) == 1)
        time.sleep(3)
        assert len(held()) == 1, "it stays"
    finally:
        manager.terminate()
        manager.wait(timeout=30)
