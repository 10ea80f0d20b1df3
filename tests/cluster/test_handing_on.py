"""A finished item is with its reader at once: the manager is told, and asks nobody again and again."""

from datetime import datetime
from pathlib import Path
from typing import Any

from cluster.client import Client
from cluster.managed import Managed, identity
from wqc.runtime.manager.requests import Request, new_request

WORKFLOW = """
source names: items {
  items = {
    good = { simulated_takes = "2s", simulated_result = "1" }
    bad  = { simulated_takes = "2s", simulated_exit_code = 3 }
  }
}
worker plain { image = "example.com/plain:1", command = ["work"] }
queue first  { from = names, worker = plain, result = required, retries = 0, parallelism = 2 }
queue second { from = first, worker = plain }
"""
RARE = "listing=600 flush=600 audit=600"
"""Whatever goes by one of these would come too late."""


def at(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def test_it_is_there_before_anything_is_listed_or_recorded_again(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    with Managed(simulated_cluster, "hands", "hands", tmp_path, WORKFLOW, RARE) as workflow:
        workflow.start()
        workflow.until("the second queue has it", lambda: bool(workflow.jobs("second")))
        (second,) = workflow.jobs("second")
        (first,) = [job for job in workflow.jobs("first") if identity(job)["name"] == "good"]
        # times are whole seconds; the machine may be busy
        waited = at(second["metadata"]["creationTimestamp"]) - at(first["status"]["completionTime"])
        assert 0 <= waited <= 3
        assert "wqc/done" not in first["metadata"]["labels"]
        assert not workflow.segments("first")


def test_what_failed_for_good_stays_until_a_person_decides(simulated_cluster: Client, tmp_path: Path) -> None:
    """Its last Job is the dead letter: nothing ends its life but a request."""
    with Managed(simulated_cluster, "letters", "letters", tmp_path, WORKFLOW) as workflow:
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
