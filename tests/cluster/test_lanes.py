"""Lanes on Kubernetes: those that can not work leave it to others, a new template proves itself in one."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from cluster.client import Client
from cluster.deployed import is_done, item_of
from cluster.test_manager import PERIODS, Crash
from support.localrun import job_template
from wqc.runtime.queue.templates import digest_of

MANAGER = '''"""The manager of the workflow crash. wqc made it from crash.wq: edit that file, not this one."""
from wqc.runtime import Workflow

workflow = Workflow("crash")

names = workflow.source("names")
zone = workflow.sharder("zone", names, key="item.name", shards={shards})
first = workflow.queue("first", zone)

if __name__ == "__main__":
    workflow.run()
'''
ITEMS = [f"item {number:02}" for number in range(30)]
AT_ONCE = 4


def template(**notes: str) -> str:
    """job.yaml whose simulated pods go like this."""
    made = yaml.safe_load(job_template("true"))
    annotations = {f"simulated/{name.replace('_', '-')}": value for name, value in notes.items()}
    made["spec"]["template"]["metadata"] = {"annotations": annotations}
    return yaml.safe_dump(made)


class Lanes(Crash):
    """A queue with a lane for each shard; where `zoned`, a lane's pods run in the zone of its name."""

    def __init__(
        self, client: Client, namespace: str, folder: Path, shards: str, zoned: bool, **more: Any
    ) -> None:
        super().__init__(client, namespace, folder, ITEMS)
        self.environment["WQC_PERIODS"] = PERIODS.replace("lease=3", "lease=6 unhealthy=60 probe=3")
        (folder / "manager.py").write_text(MANAGER.format(shards=list(shards)))
        at_once = {"min": AT_ONCE, "max": AT_ONCE}
        lanes = [
            {"name": shard, "parallelism": at_once}
            | ({"node_selector": {"test/zone": shard}} if zoned else {})
            for shard in shards
        ]
        self.put("settings.yaml", yaml.safe_dump({"queue": "first", "lanes": lanes, "retries": 0} | more))
        self.put("job.yaml", template())

    def put(self, key: str, text: str) -> None:
        path = f"{self.core}/configmaps/crash-first"
        assert self.client.request("PATCH", path, {"data": {key: text}}).status == 200

    def offer(self, items: list[str]) -> None:
        source = {"source": "names", "kind": "items", "options": {"items": items}}
        (self.environment_folder / "names" / "source.yaml").write_text(yaml.safe_dump(source))

    @property
    def environment_folder(self) -> Path:
        return Path(self.environment["WQC_SETTINGS"])

    def in_zone(self, zone: str | None) -> None:
        labels = {"metadata": {"labels": {"test/zone": zone}}}
        assert self.client.request("PATCH", "/api/v1/nodes/simulated-0", labels).status == 200

    def by_lane(self, done: bool = False) -> Counter[str]:
        return Counter(
            job["metadata"]["labels"]["wqc/lane"] for job in self.jobs() if is_done(job) or not done
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        manager = self.start()
        try:
            yield
        finally:
            manager.terminate()
            manager.wait(timeout=30)


def test_items_of_zones_that_are_down_go_to_the_last_one(simulated_cluster: Client, tmp_path: Path) -> None:
    lanes = Lanes(simulated_cluster, "zones", tmp_path, "abc", zoned=True)
    lanes.in_zone("c")
    try:
        with lanes.running():
            least = len(ITEMS) - 2 * AT_ONCE
            lanes.wait("the last zone does it", lambda: lanes.by_lane(done=True)["c"] >= least)
            before = lanes.by_lane()
            for zone in "ab":
                assert 3 <= before[zone] <= AT_ONCE, "only items without a Job move"
                assert lanes.by_lane(done=True)[zone] == 0
            assert before.total() == len(ITEMS)
            assert lanes.log.read_text().count("lane is unhealthy") == 2
            # a zone works again: what waits there for a node finds out
            for zone in "ab":
                lanes.in_zone(zone)
                lanes.wait("it is worked off", lambda: lanes.by_lane(done=True)[zone] == before[zone])  # noqa: B023
            assert lanes.by_lane() == before
    finally:
        lanes.in_zone(None)
    assert sorted(item_of(job)["name"] for job in lanes.jobs()) == ITEMS
    assert {item_of(job)["attempt"] for job in lanes.jobs()} == {1}


def test_one_item_at_a_time_finds_out_when_a_lane_is_well(simulated_cluster: Client, tmp_path: Path) -> None:
    """Its pods are lost with their node as soon as they run."""
    lanes = Lanes(simulated_cluster, "probes", tmp_path, "ab", zoned=False)
    lanes.put("job.yaml", template(takes="4s"))

    def lose() -> None:
        """Every pod of lane a."""
        pods = lanes.client.request("GET", f"{lanes.core}/pods", labelSelector="wqc/lane=a").body["items"]
        for pod in pods:
            if pod["status"].get("phase") in ("Pending", "Running"):
                status = {"phase": "Failed", "reason": "NodeLost", "containerStatuses": []}
                path = f"{lanes.core}/pods/{pod['metadata']['name']}/status"
                lanes.client.request("PATCH", path, {"status": status})

    def attempts() -> list[dict[str, Any]]:
        return [job for job in lanes.jobs() if job["metadata"]["labels"]["wqc/lane"] == "a"]

    with lanes.running():
        end = time.monotonic() + 120
        while "lane is unhealthy" not in lanes.log.read_text() or len(attempts()) < 9:
            assert time.monotonic() < end, lanes.log.read_text()[-4000:]
            lose()
            time.sleep(0.2)
        times = sorted(
            datetime.fromisoformat(job["metadata"]["creationTimestamp"]).timestamp() for job in attempts()
        )
        probes = times[-3:]
        assert all(later - earlier >= 2 for earlier, later in pairwise(probes)), times
        # it works again
        once = [1] * len(ITEMS)  # but while segments are merged
        lanes.wait("all is recorded, once", lambda: [*lanes.recorded("first").values()] == once)
    succeeded = Counter(
        item_of(job)["name"] for job in lanes.jobs() if job["status"].get("succeeded", 0) == 1
    )
    assert succeeded == Counter(ITEMS), "nothing is done twice"
    assert {item_of(job)["failures"] for job in lanes.jobs()} == {0}


def test_a_template_that_fails_in_one_lane_comes_to_no_other(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    rollout = {"order": ["b", "a"], "prove": 3}
    lanes = Lanes(simulated_cluster, "proves", tmp_path, "ab", zoned=False, rollout=rollout)
    texts = {"old": template(), "bad": template(exit_code="3"), "good": template(takes="500ms")}

    def made_from(name: str) -> Counter[str]:
        digest = digest_of(texts[name])
        labels = [job["metadata"]["labels"] for job in lanes.jobs()]
        return Counter(each["wqc/lane"] for each in labels if each["wqc/template"] == digest)

    lanes.offer(ITEMS[:10])
    with lanes.running():
        lanes.wait("all is done", lambda: len(lanes.recorded("first")) == 10)
    assert made_from("old").total() == 10
    lanes.put("job.yaml", texts["bad"])
    lanes.offer(ITEMS[:20])
    with lanes.running():
        lanes.wait("it fails", lambda: "the new template failed" in lanes.log.read_text())
        lanes.wait("each has a Job", lambda: len(lanes.jobs()) == 20)
    assert made_from("bad").keys() == {"b"}
    assert made_from("old").total() + made_from("bad").total() == 20
    lanes.put("job.yaml", texts["good"])
    lanes.offer(ITEMS)
    with lanes.running():
        lanes.wait("each has a Job", lambda: len(lanes.jobs()) == len(ITEMS))
        lanes.wait("the last ones are done", lambda: sum(map(is_done, lanes.jobs())) >= len(ITEMS) - 10)
    good = made_from("good")
    assert good["b"] >= 3, "it proves itself there first"
    assert {item_of(job)["attempt"] for job in lanes.jobs()} == {1}
    assert sorted(item_of(job)["name"] for job in lanes.jobs()) == ITEMS
