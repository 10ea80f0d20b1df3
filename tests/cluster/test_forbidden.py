"""What a manager may not read keeps its queues from starting anything: status and an Event say what it is."""

from pathlib import Path

import pytest

from cluster.client import Client, Manifest
from cluster.managed import Managed
from cluster.test_role import Right, without

WORKFLOW = """
source names: items { items = ["one"] }
worker plain { image = "example.com/plain:1", command = ["work"] }
queue first { from = names, worker = plain }
"""


@pytest.mark.parametrize(
    ("group", "resource", "why"),
    [
        ("", "configmaps", "the workflow's state can't be read: "),
        ("batch", "jobs", "its Jobs can't be listed: "),
        ("", "pods", "its Jobs can't be listed: "),
    ],
)
def test_it_is_said_and_work_begins_once_it_may(
    simulated_cluster: Client, tmp_path: Path, group: str, resource: str, why: str
) -> None:
    def change(manifest: Manifest) -> None:
        if manifest["kind"] == "Role":
            without(manifest, Right("list", group, resource, ""))

    def is_forbidden(text: str) -> bool:
        return why in text and f'cannot list resource "{resource}"' in text

    namespace = f"forbidden-{resource}"
    with Managed(simulated_cluster, "shy", namespace, tmp_path, WORKFLOW, "announce=1") as workflow:
        workflow.apply(WORKFLOW, change)
        workflow.start()
        workflow.until("status says why", lambda: is_forbidden(workflow.blocked("first")))
        workflow.until(
            "an Event says why", lambda: any(is_forbidden(said) for _, said in workflow.events("first"))
        )
        assert not workflow.jobs("first")
        workflow.apply(WORKFLOW)
        workflow.until("the item is worked on", lambda: workflow.is_done("first", ["one"]))
        workflow.until("nothing is in the way", lambda: not workflow.blocked("first"))
