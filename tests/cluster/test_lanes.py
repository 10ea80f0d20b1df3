"""A zone without a node: its lane's items go to the other lane, until the zone works again."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from cluster.client import Client
from cluster.test_manager import PERIODS, Crash
from support.localrun import job_template

MANAGER = '''"""The manager of the workflow crash. wqc made it from crash.wq: edit that file, not this one."""
from wqc.runtime import Workflow

workflow = Workflow("crash")

names = workflow.source("names")
zone = workflow.sharder("zone", names, key="item.name", shards=["a", "b"])
first = workflow.queue("first", zone)

if __name__ == "__main__":
    workflow.run()
'''
ITEMS = [f"item {number:02}" for number in range(24)]
AT_ONCE = 4


def lane(name: str) -> dict[str, Any]:
    selector = {"test/zone": name}
    return {"name": name, "parallelism": {"min": AT_ONCE, "max": AT_ONCE}, "node_selector": selector}


def in_zone(client: Client, zone: str | None) -> None:
    labels = {"metadata": {"labels": {"test/zone": zone}}}
    assert client.request("PATCH", "/api/v1/nodes/simulated-0", labels).status == 200


def by_lane(deployed: Crash, label: str = "") -> Counter[str]:
    jobs = [job["metadata"]["labels"] for job in deployed.jobs()]
    return Counter(labels["wqc/lane"] for labels in jobs if not label or label in labels)


def test_items_of_a_zone_that_is_down_go_to_another(simulated_cluster: Client, tmp_path: Path) -> None:
    deployed = Crash(simulated_cluster, "zones", tmp_path, ITEMS)
    deployed.environment["WQC_PERIODS"] = PERIODS.replace("lease=1", "lease=6 unhealthy=60 probe=1")
    (tmp_path / "manager.py").write_text(MANAGER)
    settings = yaml.safe_dump({"queue": "first", "lanes": [lane("a"), lane("b")]})
    data = {"settings.yaml": settings, "job.yaml": job_template("true")}
    simulated_cluster.request("PATCH", f"{deployed.core}/configmaps/crash-first", {"data": data})
    in_zone(simulated_cluster, "b")
    manager = deployed.start()
    end = time.monotonic() + 120
    try:
        while by_lane(deployed, "wqc/done")["b"] < len(ITEMS) - AT_ONCE:
            assert time.monotonic() < end, deployed.log.read_text()[-4000:]
            time.sleep(0.3)
        waiting = by_lane(deployed)["a"]
        assert by_lane(deployed) == {"a": waiting, "b": len(ITEMS) - waiting}
        assert 3 <= waiting <= AT_ONCE, "only items without a Job move"
        assert by_lane(deployed, "wqc/done")["a"] == 0
        assert "lane is unhealthy" in deployed.log.read_text()
        # the zone works again: what waits there for a node finds out
        in_zone(simulated_cluster, "a")
        while by_lane(deployed, "wqc/done")["a"] < waiting:
            assert time.monotonic() < end, deployed.log.read_text()[-4000:]
            time.sleep(0.3)
    finally:
        in_zone(simulated_cluster, None)
        manager.terminate()
        manager.wait(timeout=30)
    names = [json.loads(job["metadata"]["annotations"]["wqc/item"])["name"] for job in deployed.jobs()]
    assert sorted(names) == ITEMS
