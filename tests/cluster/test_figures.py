"""What benchmarks/manager.py measures, at a small size and as far as no machine's speed is in it: memory,
requests, writes. docs/decisions/scale.md has the large sizes.
"""

import json
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cluster.calls import Call, Meddler, Proxy, Reply
from cluster.client import Client, Manifest
from cluster.controllers import TUNED
from wqc.runtime.queue.attempt import Identity, attempt_name
from wqc.runtime.stores.kubernetes.watching import PAGE

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from scale.bed import LONG, Bed, Queue, Running, bed  # noqa: E402  (benchmarks/ is no package)
from scale.jobs import JOBS, items  # noqa: E402
from scale.latency import FLUSH, chain  # noqa: E402
from scale.listing import filtered  # noqa: E402
from scale.memory import with_live_jobs  # noqa: E402


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    with bed(tmp_path_factory.mktemp("bed"), TUNED) as made:
        yield made


def test_an_attempt_takes_two_writes_and_a_second_less_than_one(ground: Bed) -> None:
    chained = chain(ground, 20)
    assert (len(chained.waits), chained.attempts) == (20, 40)
    # one that meets a change of the controllers' is made again
    assert 2 * 40 <= chained.writes.pop("jobs") <= 2.1 * 40
    # when it starts; the lease, the report and two records, each five seconds
    assert chained.writes.total() <= 10 + 4 / FLUSH * chained.seconds, chained


def test_a_quiet_round_asks_for_one_listing_and_nothing_else(ground: Bed) -> None:
    each = 0.5
    quiet = filtered(ground, 500, 10, each)
    assert quiet.asked.keys() == {"listing"}
    assert quiet.asked["listing"] <= quiet.seconds / each + 1
    others = {key: count for key, count in quiet.requests.items() if key[1] != "leases"}
    # what it says about itself, and a look at whether the queue's ConfigMap is there
    assert sum(others.values()) <= 2, others


LIVE = 10_000


class Copies(Meddler):
    """A server that lists `count` Jobs like one that it has, and as many of its pods."""

    def __init__(self, client: Client, namespace: str, count: int) -> None:
        job, version = self._listed(client, JOBS.format(namespace))
        pod, _ = self._listed(client, f"/api/v1/namespaces/{namespace}/pods")
        self._pages = {
            "list jobs": pages(list(copies(job, job, namespace, count)), version),
            "list pods": pages(list(copies(pod, job, namespace, count)), version),
        }

    def before(self, call: Call) -> Reply | None:
        pages = self._pages.get(call.kind)
        if not pages:
            return None
        return Reply(200, pages[(call.number - 1) % len(pages)], {"Content-Type": "application/json"})

    def _listed(self, client: Client, path: str) -> tuple[Manifest, str]:
        answer = client.request("GET", path).body
        (found,) = answer["items"]
        return found, answer["metadata"]["resourceVersion"]


def copies(found: Manifest, job: Manifest, namespace: str, count: int) -> Iterator[str]:
    """The object as text, for each item, with names and ids that belong together."""
    text, metadata = json.dumps(found), job["metadata"]
    (first, *_) = items(1)
    assert attempt_name(namespace, "work", "", Identity(first, "", 0, 1, 0)) == metadata["name"]
    for number, item in enumerate(items(count), 1):
        name = attempt_name(namespace, "work", "", Identity(item, "", 0, 1, 0))
        changed = text.replace(first, item).replace(metadata["name"], name)
        changed = changed.replace(metadata["uid"], str(uuid.UUID(int=number)))
        yield changed.replace(found["metadata"]["uid"], str(uuid.UUID(int=count + number)))


def pages(objects: list[str], version: str) -> list[bytes]:
    made = []
    for start in range(0, len(objects), PAGE):
        following = "next" if start + PAGE < len(objects) else ""
        metadata = json.dumps({"resourceVersion": version, "continue": following})
        made.append(
            f'{{"metadata": {metadata}, "items": [{",".join(objects[start : start + PAGE])}]}}'.encode()
        )
    return made


def test_with_ten_thousand_live_jobs_a_manager_has_room_in_128_mebibytes(ground: Bed) -> None:
    """One of them is there, and the server lists it ten thousand times, with other names."""
    deployed = ground.deploy("live", [Queue("work", 1, LONG)], {"items": items(LIVE)})
    with deployed.manage():
        deployed.until("one runs", lambda: '"Running"' in ground.client.text(f"{deployed.core}/pods"))
    one = with_live_jobs(deployed, 1, 2)
    proxy = Proxy(ground.client, Copies(ground.client, "live", LIVE))
    try:
        through(deployed, proxy)
        many = with_live_jobs(deployed, LIVE, 5)
    finally:
        proxy.close()
    assert many.most <= 128
    assert (many.anonymous - one.anonymous) * 1024 / LIVE <= 5, (one, many)


def through(deployed: Running, proxy: Proxy) -> None:
    """From now on its manager asks the proxy."""
    path = Path(deployed.environment["KUBECONFIG"])
    config = yaml.safe_load(path.read_text())
    config["clusters"][0]["cluster"] = {"server": proxy.url}
    path.write_text(yaml.safe_dump(config))
