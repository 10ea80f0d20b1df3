"""What people and nodes do to a workflow's objects behind its manager's back: nothing is lost or repeated."""

import os
import re
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from cluster.client import Client, Manifest
from cluster.job_watch import JobWatch, by_name
from cluster.managed import Managed, identity
from support.ambassador import ambassador
from wqc.contract.names import item_hash

NAMES = ("one", "two", "three")
DELETED = "of its attempts are lost: its Job was deleted; who deletes Jobs here?"
WHY = rf"two: \d+ {re.escape(DELETED)}"


def workflow_of(takes: str, more: str = "") -> str:
    """Two queues; the second one's items, which the first one's results are, take no time."""
    data = f'{{ simulated_takes = "{takes}", simulated_result = "{{\\"n\\":1}}" }}'
    items = ", ".join(f"{name} = {data}" for name in NAMES)
    return f"""
source names: items {{ items = {{ {items} }} }}
worker plain {{ image = "example.com/plain:1", command = ["work"] }}
queue first {{ from = names, worker = plain, result = required, parallelism = 3 {more} }}
queue second {{ from = first, worker = plain, parallelism = 3 }}
"""


def is_over(workflow: Managed) -> bool:
    return workflow.is_done("second", NAMES)


def books_balance(workflow: Managed) -> None:
    """Every item is recorded once, and delivered once with its result."""
    everything = Counter(item_hash(name, "") for name in NAMES)
    assert [workflow.recorded(queue) for queue in ("first", "second")] == [everything] * 2
    assert workflow.attempts("second") == Counter(NAMES)
    assert workflow.delivered("second") == {name: {"n": 1} for name in NAMES}


def ended(workflow: Managed, queue: str) -> list[Manifest]:
    return [job for job in workflow.jobs(queue) if job["status"].get("completionTime")]


def delete(workflow: Managed, job: Manifest, propagation: str) -> None:
    path = f"{workflow.batch}/jobs/{job['metadata']['name']}"
    answer = workflow.client.request("DELETE", path, propagationPolicy=propagation)
    assert answer.status == 200, answer


def test_pods_that_are_gone_before_their_results_were_read(simulated_cluster: Client, tmp_path: Path) -> None:
    """As after `kubectl drain`, which evicts what has succeeded too."""
    with Managed(simulated_cluster, "hand", "hand-drained", tmp_path, workflow_of("2s")) as workflow:
        workflow.start()
        workflow.until("all run", lambda: len(workflow.jobs("first")) == 3)
        workflow.kill()
        workflow.until("all have ended", lambda: len(ended(workflow, "first")) == 3)
        for job in workflow.jobs("first")[:2]:
            (pod,) = workflow.pods(job)
            evict(workflow, pod)
            workflow.until("its pod is gone", lambda job=job: not workflow.pods(job))
        workflow.start()
        workflow.until("all is done", lambda: is_over(workflow))
        assert sorted(workflow.attempts("first").values()) == [1, 2, 2]
        assert {identity(job)["failures"] for job in workflow.jobs("first")} == {0}
        books_balance(workflow)


def evict(workflow: Managed, pod: Manifest) -> None:
    name = pod["metadata"]["name"]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    answer = workflow.client.request("POST", f"{workflow.core}/pods/{name}/eviction", eviction)
    assert answer.status == 201, answer


def test_pods_that_are_evicted_while_they_work(simulated_cluster: Client, tmp_path: Path) -> None:
    """That says nothing about the item: the same attempt gets another pod."""
    with Managed(simulated_cluster, "hand", "hand-evicted", tmp_path, workflow_of("3s")) as workflow:
        workflow.start()
        workflow.until("all run", lambda: len(running(workflow)) == 3)
        before = running(workflow)
        for pod in before.values():
            evict(workflow, pod)
        workflow.until("all is done", lambda: is_over(workflow))
        assert workflow.attempts("first") == Counter(NAMES)
        assert {
            pod["metadata"]["uid"] for job in workflow.jobs("first") for pod in workflow.pods(job)
        }.isdisjoint(pod["metadata"]["uid"] for pod in before.values())
        books_balance(workflow)


def running(workflow: Managed) -> dict[str, Manifest]:
    """The first queue's running pods, by Job."""
    pods = workflow.listed(f"{workflow.core}/pods", labelSelector="wqc/queue=first")
    return {
        pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]: pod
        for pod in pods
        if pod["status"].get("phase") == "Running"
    }


@pytest.mark.parametrize(
    ("manager", "propagation"),
    [("runs", "Foreground"), ("runs", "Orphan"), ("is down", "Background"), ("is down", "Foreground")],
)
def test_jobs_that_are_deleted_by_hand(
    simulated_cluster: Client, tmp_path: Path, manager: str, propagation: str
) -> None:
    namespace = f"hand-{propagation.lower()}-{manager.split()[-1]}"
    with Managed(simulated_cluster, "hand", namespace, tmp_path, workflow_of("2s")) as workflow:
        workflow.start()
        workflow.until("all run", lambda: len(running(workflow)) == 3)
        if manager == "is down":
            workflow.kill()
        before = {job["metadata"]["uid"] for job in workflow.jobs("first")[:2]}
        for job in workflow.jobs("first")[:2]:
            delete(workflow, job, propagation)
        if manager == "is down":
            workflow.until("they are gone", lambda: before.isdisjoint(uids(workflow)))
            workflow.start()
        workflow.until("all is done", lambda: is_over(workflow))
        assert before.isdisjoint(uids(workflow))
        assert workflow.attempts("first") == Counter(NAMES)
        books_balance(workflow)


def uids(workflow: Managed) -> set[str]:
    return {job["metadata"]["uid"] for job in workflow.jobs("first")}


def test_finished_jobs_that_are_deleted_by_hand_are_not_worked_on_again(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    with Managed(simulated_cluster, "hand", "hand-finished", tmp_path, workflow_of("0s")) as workflow:
        workflow.start()
        workflow.until("all is done", lambda: is_over(workflow))
        for queue in ("first", "second"):
            for job in workflow.jobs(queue):
                delete(workflow, job, "Background")
        workflow.until("they are gone", lambda: not workflow.jobs("first") + workflow.jobs("second"))
        for again in (False, True):
            if again:
                workflow.stop()
                workflow.start()
            time.sleep(2)  # four listings of the source
            assert workflow.jobs("first") + workflow.jobs("second") == []
        everything = Counter(item_hash(name, "") for name in NAMES)
        assert [workflow.recorded(queue) for queue in ("first", "second")] == [everything] * 2


def test_an_outage_that_is_longer_than_finished_jobs_are_kept(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    keep = 2
    with Managed(
        simulated_cluster, "hand", "hand-outage", tmp_path, workflow_of("1s", f", keep = {keep}s")
    ) as workflow:
        workflow.start()
        workflow.until("all run", lambda: len(workflow.jobs("first")) == 3)
        workflow.kill()
        workflow.until("all have ended", lambda: len(ended(workflow, "first")) == 3)
        time.sleep(keep + 3)
        assert len(workflow.jobs("first")) == 3, "what isn't recorded stays"
        seen: dict[str, int] = {}

        def note_ttls() -> bool:
            for job in workflow.jobs("first"):
                if "wqc/done" in job["metadata"]["labels"]:
                    seen[identity(job)["name"]] = job["spec"]["ttlSecondsAfterFinished"]
            return len(seen) == 3

        workflow.start()
        workflow.until("all are marked done", note_ttls)
        assert min(seen.values()) >= keep + 3, "a TTL counts from the Job's end, which was before the outage"
        workflow.until("all is done", lambda: is_over(workflow))
        workflow.until("finished Jobs go", lambda: not workflow.jobs("first"))
        books_balance(workflow)


def test_of_two_managers_that_think_they_are_alone_one_gives_way(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    """A stopped machine comes back when another manager has long taken over."""
    with Managed(simulated_cluster, "hand", "hand-two", tmp_path, workflow_of("2s")) as workflow:
        workflow.start()
        first = workflow.manager
        assert first
        assert first.pid
        workflow.until("all run", lambda: len(running(workflow)) == 3)
        os.kill(first.pid, signal.SIGSTOP)
        try:
            workflow.start()
            workflow.until("the second has recorded something", lambda: bool(workflow.recorded("first")))
        finally:
            os.kill(first.pid, signal.SIGCONT)
        first.join(30)
        assert first.exitcode == 1, workflow.log.read_text()[-4000:]
        assert (
            "has the lease" in workflow.log.read_text() or "could not be renewed" in workflow.log.read_text()
        )
        workflow.until("all is done", lambda: is_over(workflow))
        assert workflow.attempts("first") == Counter(NAMES)
        books_balance(workflow)


@pytest.mark.parametrize("manager", ["runs", "is down"])
def test_a_configmap_that_is_deleted_by_hand(simulated_cluster: Client, tmp_path: Path, manager: str) -> None:
    """Its Jobs and its record go with it; the next apply makes it anew, and what is listed is done again."""
    text = workflow_of("0s")
    namespace = f"hand-map-{manager.split()[-1]}"
    with Managed(simulated_cluster, "hand", namespace, tmp_path, text, "owner=1") as workflow:
        workflow.start()
        workflow.until("all is done", lambda: is_over(workflow))
        if manager == "is down":
            workflow.stop()
        before = uids(workflow)
        assert workflow.client.request("DELETE", f"{workflow.core}/configmaps/hand-first").status == 200
        workflow.until("its Jobs are gone", lambda: before.isdisjoint(uids(workflow)))
        if manager == "runs":
            workflow.until("it says so", lambda: "ConfigMap was deleted" in workflow.notice("first"))
            assert "apply what wqc built again" in workflow.notice("first")
        workflow.apply(text)
        if manager == "is down":
            workflow.start()
        workflow.until("it says so", lambda: "items that its source still lists" in workflow.notice("first"))
        workflow.until("all is worked on again", lambda: workflow.is_done("first", NAMES))
        assert before.isdisjoint(uids(workflow))
        books_balance(workflow)
        assert workflow.notice("second") == ""


def test_jobs_that_somebody_deletes_again_and_again(simulated_cluster: Client, tmp_path: Path) -> None:
    """Another controller, say: status and an Event say so; the item is worked on once that is over."""
    periods = "announce=1 backoff=0.1"
    with Managed(simulated_cluster, "hand", "hand-always", tmp_path, workflow_of("2s"), periods) as workflow:
        workflow.start()

        def is_said() -> bool:
            for job in workflow.jobs("first"):
                if identity(job)["name"] == "two" and "deletionTimestamp" not in job["metadata"]:
                    path = f"{workflow.batch}/jobs/{job['metadata']['name']}"
                    workflow.client.request("DELETE", path, propagationPolicy="Background")
            return bool(re.match(WHY, workflow.blocked("first")))

        workflow.until("status says why", is_said)
        assert workflow.status("first")["troubled"]["first"][0]["item"] == "two"
        workflow.until("an Event says why", lambda: is_said() and DELETED in str(workflow.events("first")))
        workflow.until("all is done", lambda: is_over(workflow))
        workflow.until("nothing is wrong any more", lambda: not workflow.blocked("first"))
        books_balance(workflow)


def test_a_share_that_is_away_for_longer_than_items_are_remembered(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    """What is done stays done when it is listed again, though its Jobs are long gone."""
    share, away = tmp_path / "share", tmp_path / "away"
    forget = 2.0
    text = f"""
source films: files {{ path = "{share}", volume = pvc("share"), quiet = 1s }}
worker plain {{ image = "example.com/plain:1", command = ["work"] }}
queue thumbs {{ from = films, worker = plain, keep = 1s }}
"""
    share.mkdir()
    for name in NAMES:
        (share / name).touch()
    with (
        Managed(simulated_cluster, "hand", "hand-share", tmp_path, text, f"forget={forget}") as workflow,
        ambassador(["source", "films"], tmp_path / "settings") as served,
        JobWatch(simulated_cluster, "hand-share", by_name) as seen,
    ):
        program = tmp_path / "manager.py"
        program.write_text(re.sub('url="[^"]*"', f'url="{served.url}"', program.read_text()))
        workflow.start()
        done = Counter(item_hash(name, "") for name in NAMES)
        workflow.until("all is recorded", lambda: workflow.recorded("thumbs") == done)
        workflow.until("all Jobs are gone", lambda: not workflow.jobs("thumbs"))
        share.rename(away)
        share.mkdir()
        workflow.until("it says so", lambda: "nothing is forgotten now" in workflow.log.read_text())
        time.sleep(3 * forget)
        assert workflow.recorded("thumbs") == done
        (away / "zzz").touch()
        share.rmdir()
        away.rename(share)
        done += Counter([item_hash("zzz", "")])
        # one at a time, and this one is the last that is listed
        workflow.until("what is new is recorded", lambda: item_hash("zzz", "") in workflow.recorded("thumbs"))
        assert workflow.recorded("thumbs") == done
        assert len(seen.created) == len(done)
