"""What others have in the namespace is neither counted nor touched, however much it looks like our own."""

import base64
from collections import Counter
from pathlib import Path
from typing import Any

from cluster.client import Client, Manifest
from cluster.managed import Managed
from wqc.contract.names import item_hash, job_name
from wqc.runtime.queue.attempt import Identity
from wqc.runtime.queue.ledger import write_segment

NAMES = ("one", "two", "three")
WORKFLOW = """
source names: items { items = ["one", "two", "three"] }
worker plain { image = "example.com/plain:1", command = ["work"] }
queue first { from = names, worker = plain, parallelism = 3 }
"""


def job(name: str, owner: Manifest | None, labels: dict[str, str], item: str) -> Manifest:
    """Suspended: the control plane leaves it alone too. It is for an item, says its annotation."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "worker", "image": "example.com/own:1"}]}
    metadata: dict[str, Any] = {"name": name, "labels": labels}
    metadata["annotations"] = {"wqc/item": Identity(item, "", 0, 1, 0).text()}
    if owner:
        metadata["ownerReferences"] = [owner]
    spec = {"suspend": True, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def segment(owner: Manifest, item: str) -> Manifest:
    """Somebody says that the item is finished."""
    found = write_segment("foreign-first", [item_hash(item, "")], 0)
    labels = {"wqc/workflow": "foreign", "wqc/ledger": "first"}
    metadata = {"name": found.name, "labels": labels, "ownerReferences": [owner]}
    hashes = base64.b64encode(found.content).decode()
    content = {"immutable": True, "binaryData": {"hashes": hashes}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata} | content


def found(workflow: Managed, manifest: Manifest) -> Manifest:
    """The object, as it is now."""
    path = workflow.client.collection(manifest, workflow.namespace)
    read: Manifest = workflow.client.request("GET", f"{path}/{manifest['metadata']['name']}").body
    return read


def test_they_are_left_alone(simulated_cluster: Client, tmp_path: Path) -> None:
    with Managed(simulated_cluster, "foreign", "foreign", tmp_path, WORKFLOW) as workflow:
        other = workflow.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}})
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": other["metadata"]["uid"]}
        labels = {"wqc/workflow": "foreign", "wqc/queue": "first"}
        look_alike = "foreign-first-aaaaaaaaaaaaaaaaaaaa-1"
        objects = [
            job(look_alike, owner, {}, "one"),
            job("with-our-labels", owner, labels, "one"),
            job("without-owner", None, labels, "two"),
            job("done", owner, labels | {"wqc/done": "true"}, "three"),
            job(job_name("foreign-first", item_hash("gone", ""), 1), owner, labels, "gone"),
            segment(owner, "two"),
        ]
        for each in objects:
            workflow.put(each)
        jobs = [each for each in objects if each["kind"] == "Job"]
        workflow.until(
            "the control plane knows that they are suspended",
            lambda: all(found(workflow, each)["status"].get("conditions") for each in jobs),
        )
        before = [found(workflow, each) for each in objects]
        workflow.start()
        workflow.until("all is done", lambda: workflow.is_done("first", NAMES))
        workflow.until("it says so", lambda: workflow.status("first").get("done") == 3)
        assert workflow.status("first")["running"] == 0
        assert workflow.status("first")["failed"] == 0
        workflow.stop()
        assert [found(workflow, each) for each in objects] == before
        own = Counter(item_hash(name, "") for name in NAMES)
        assert workflow.recorded("first") == own + Counter([item_hash("two", "")])
