"""A finished item is with its reader at once: the manager is told, and asks nobody again and again."""

from pathlib import Path
from statistics import median
from typing import Any

from cluster.client import Client
from cluster.job_watch import JobWatch, by_item
from cluster.managed import Managed, identity
from wqc.runtime.manager.requests import Request, new_request

AT_ONCE = 3
RARE = "listing=600 flush=600 audit=600"
"""Whatever goes by one of these would come too late."""


def workflow_of(good: list[str]) -> str:
    """These, and one that fails; the second queue is never what is waited for."""
    items = [f'{name} = {{ simulated_takes = "1s", simulated_result = "1" }}' for name in good]
    items.append('bad = { simulated_takes = "1s", simulated_exit_code = 3 }')
    return f"""
source names: items {{ items = {{ {", ".join(items)} }} }}
worker plain {{ image = "example.com/plain:1", command = ["work"] }}
queue first  {{ from = names, worker = plain, result = required, retries = 0, parallelism = {AT_ONCE} }}
queue second {{ from = first, worker = plain, parallelism = {len(good)} }}
"""


def test_it_is_there_before_anything_is_listed_or_recorded_again(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    good = [f"good{number}" for number in range(10)]
    with (
        Managed(simulated_cluster, "hands", "hands", tmp_path, workflow_of(good), RARE) as workflow,
        JobWatch(simulated_cluster, "hands", by_item) as seen,
    ):
        workflow.start()
        second = {("second", name) for name in good}
        workflow.until("the second queue has them", lambda: seen.created.keys() >= second)
        waits = [seen.created["second", name] - seen.completed["first", name] for name in good]
        assert min(waits) >= 0
        assert median(waits) < 1, waits
        assert seen.most_at_work["first"] == AT_ONCE
        assert not [job for job in workflow.jobs("first") if "wqc/done" in job["metadata"]["labels"]]
        assert not workflow.segments("first")


def test_what_failed_for_good_stays_until_a_person_decides(simulated_cluster: Client, tmp_path: Path) -> None:
    """Its last Job is the dead letter: nothing ends its life but a request."""
    with Managed(simulated_cluster, "letters", "letters", tmp_path, workflow_of(["good"])) as workflow:
        workflow.start()
        workflow.until("one is held", lambda: workflow.status("first").get("held") == 1)
        workflow.until("the other is done", lambda: workflow.is_done("first", ["good"]))
        assert "ttlSecondsAfterFinished" not in letter(workflow)["spec"]
        assert "wqc/done" not in letter(workflow)["metadata"]["labels"]
        key, text = discarded("bad")
        path = f"{workflow.core}/configmaps/letters-state"
        assert simulated_cluster.request("PATCH", path, {"data": {key: text}}).status == 200
        workflow.until("it is let go", lambda: "wqc/done" in letter(workflow)["metadata"]["labels"])
        assert letter(workflow)["spec"]["ttlSecondsAfterFinished"] >= 3600


def letter(workflow: Managed) -> dict[str, Any]:
    (job,) = [job for job in workflow.jobs("first") if identity(job)["name"] == "bad"]
    return job


def discarded(item: str) -> tuple[str, str]:
    return new_request(Request("first", "discard", (item,)))
