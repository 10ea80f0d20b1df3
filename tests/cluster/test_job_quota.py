"""A namespace that takes no more Jobs: the queue waits and says why, and goes on when it takes some again."""

from collections import Counter
from pathlib import Path

from cluster.client import Client
from cluster.managed import Managed, identity

NAMES = ("one", "two", "three")
WORKFLOW = """
source names: items { items = ["one", "two", "three"] }
worker plain { image = "example.com/plain:1", command = ["work"] }
queue first { from = names, worker = plain, parallelism = 3 }
"""


def test_it_is_waited_for(simulated_cluster: Client, tmp_path: Path) -> None:
    with Managed(simulated_cluster, "quota", "job-quota", tmp_path, WORKFLOW) as workflow:
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-jobs"}}
        workflow.put(quota | {"spec": {"hard": {"count/jobs.batch": "0"}}})
        workflow.start()
        workflow.until("it says why", lambda: "exceeded quota: no-jobs" in workflow.blocked("first"))
        assert workflow.status("first")["blocked_by"] == "api"
        assert workflow.jobs("first") == []
        workflow.put(quota | {"spec": {"hard": {"count/jobs.batch": "3"}}})
        workflow.until("all is done", lambda: workflow.is_done("first", NAMES))
        workflow.until("nothing is in the way", lambda: not workflow.blocked("first"))
        assert workflow.attempts("first") == Counter(NAMES)
        assert {(identity(job)["attempt"], identity(job)["failures"]) for job in workflow.jobs("first")} == {
            (1, 0)
        }
