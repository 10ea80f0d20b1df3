"""The manager's Role is enough and minimal: a run that uses all that a manager does asks for nothing else.

With any of it taken away the run gets stuck, and the manager says what it may not do. That it is stuck and
not slow is seen beside a run that lacks nothing, at the same time and on the same machine.
"""

import base64
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cluster.audit import asked_by
from cluster.client import Client, Manifest
from cluster.control_plane import ControlPlane
from cluster.managed import Managed, identity
from support.built import Folder
from wqc.contract.names import item_hash, job_name
from wqc.runtime.manager.requests import Request, decode_request, new_request
from wqc.runtime.queue.ledger import write_segment

GOOD = ("one", "two", "three")
BEFORE = """
source names: items { items = ["one"] }
worker plain { image = "example.com/plain:1", command = ["work"] }
queue earlier { from = names, worker = plain }
"""
WORKFLOW = """
source names: items {
  items = {
    one   = { zone = 1, simulated_result = "1" }
    two   = { zone = 2, simulated_result = "2" }
    three = { zone = 3, simulated_result = "3", simulated_exit_code_at_first = 1 }
    bad   = { zone = 4, simulated_exit_code = 65 }
    taken = { zone = 5 }
  }
}
sharder region {
  from    = names
  key     = item.data.zone
  shards  = {
    a = nodes({ "kubernetes.io/hostname" = "simulated-0" })
    b = nodes({ "kubernetes.io/hostname" = "simulated-0" })
  }
  rollout = { order = [a, b], prove = 1 }
}
worker plain { image = "example.com/plain:1", command = ["work"] }
queue first {
  from        = region
  worker      = plain
  result      = required
  poison      = [65]
  parallelism = 4
  formerly    = "earlier"
}
queue second { from = first, worker = plain, parallelism = 4 }
"""
OLD = [item_hash(f"old {number}", "") for number in range(16)]
"""What the queue had finished under its former name; so many pieces of a record are merged."""
AT_ONCE = 8
PATIENCE = 240.0
"""Seconds for a run that lacks nothing."""
STUCK = 2.0
"""Times as long as such a run beside it took: one that isn't over then is stuck."""


@dataclass(frozen=True, order=True)
class Right:
    """One thing that a Role allows; `name` "" for all objects of the kind."""

    verb: str
    group: str
    resource: str
    name: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource} {self.name}".strip()


def rights(role: Manifest) -> Iterator[Right]:
    for rule in role["rules"]:
        for verb in rule["verbs"]:
            for name in rule.get("resourceNames", [""]):
                yield Right(verb, *rule["apiGroups"], *rule["resources"], name)


def without(role: Manifest, lacking: Right) -> None:
    role["rules"] = [
        {"apiGroups": [each.group], "resources": [each.resource], "verbs": [each.verb]}
        | ({"resourceNames": [each.name]} if each.name else {})
        for each in rights(role)
        if each != lacking
    ]


def prepared(client: Client, namespace: str, folder: Path, lacking: Right | None) -> Managed:
    """There is something to do for everything that a manager does."""
    workflow = Managed(client, "role", namespace, folder, BEFORE, "patience=1 announce=1")

    def change(manifest: Manifest) -> None:
        if manifest["kind"] == "Role" and lacking:
            without(manifest, lacking)

    workflow.apply(WORKFLOW, change)
    earlier = client.request("GET", f"{workflow.core}/configmaps/role-earlier").body["metadata"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": earlier["name"], "uid": earlier["uid"]}
    for key in OLD:
        segment = write_segment("role-earlier", [key], 0)
        metadata = {
            "name": segment.name,
            "labels": {"wqc/workflow": "role", "wqc/ledger": "earlier"},
            "ownerReferences": [owner],
        }
        content = {"binaryData": {"hashes": base64.b64encode(segment.content).decode()}}
        workflow.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata} | content)
    # somebody's Job has the name that one for `taken` would get
    pod = {"restartPolicy": "Never", "containers": [{"name": "own", "image": "example.com/own:1"}]}
    workflow.put(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": job_name("role-first", item_hash("taken", ""), 1)},
            "spec": {"suspend": True, "template": {"spec": pod}},
        }
    )
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}}
    workflow.put(quota | {"spec": {"hard": {"pods": "0"}}})
    return workflow


class Stuck(Exception):
    pass


def everything(workflow: Managed, is_stuck: Callable[[], bool] = lambda: False) -> None:
    """Raises Stuck, TimeoutError."""
    end = time.monotonic() + PATIENCE

    def until(what: str, holds: Callable[[], object]) -> None:
        def goes_on() -> object:
            if is_stuck():
                raise Stuck(what)
            return holds()

        workflow.until(what, goes_on, max(0.0, end - time.monotonic()))

    workflow.start()
    until("the quota is said to be in the way", lambda: "exceeded quota" in str(workflow.events("first")))
    workflow.client.request("DELETE", f"{workflow.core}/resourcequotas/none")
    until("all is done that can be", lambda: workflow.is_done("second", GOOD))
    until("one failed", lambda: workflow.status("first").get("failed") == 1)
    key, request = new_request(Request("first", "retry", ("bad",)))
    path = f"{workflow.core}/configmaps/role-state"
    assert workflow.client.request("PATCH", path, {"data": {key: request}}).status == 200
    until("it is tried again", lambda: {identity(job)["round"] for job in workflow.jobs("first")} == {0, 1})
    until("the request is done", lambda: decode_request(workflow.state()[key]).done)
    until("both lanes have the template", lambda: '"b"' in workflow.state().get("rollout.first", ""))
    until("the record is in few pieces", lambda: len(workflow.segments("first")) < len(OLD))
    until("the foreign Job is named", lambda: "taken: there is a Job" in workflow.blocked("first"))
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{workflow.namespace}/leases/role-manager"
    made = workflow.client.request("GET", lease).body["metadata"]["resourceVersion"]
    until(
        "the Lease is renewed",
        lambda: workflow.client.request("GET", lease).body["metadata"]["resourceVersion"] != made,
    )
    workflow.stop()


def test_a_run_that_uses_all_of_it(
    simulated_plane: ControlPlane, simulated_cluster: Client, tmp_path: Path
) -> None:
    with prepared(simulated_cluster, "role-whole", tmp_path, None) as workflow:
        everything(workflow)
        roles = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{workflow.namespace}/roles"
        role = simulated_cluster.request("GET", f"{roles}/role-manager")
    assert workflow.recorded("first") == Counter(OLD + [item_hash(name, "") for name in GOOD])
    (asked,) = asked_by(simulated_plane.audit_log, workflow.namespace).values()
    assert [each for each in asked if each.status in (401, 403)] == []
    allowed = set(rights(role.body))
    used = {
        right
        for right in allowed
        for each in asked
        if (each.verb, each.group, each.resource) == (right.verb, right.group, right.resource)
        and right.name in ("", each.name)
    }
    assert sorted(map(str, allowed - used)) == [], "it may more than it needs"


def test_without_any_of_it_the_run_gets_stuck_and_says_why(simulated_cluster: Client, tmp_path: Path) -> None:
    role = Folder(f"workflow role\n{WORKFLOW}").object("access.yaml", "Role")

    every = sorted(rights(role))

    def whole(number: int) -> float:
        """How many seconds it takes."""
        name = f"role-beside-{number}"
        with prepared(simulated_cluster, name, tmp_path / name, None) as workflow:
            began = time.monotonic()
            everything(workflow)
            return time.monotonic() - began

    def wrong(number: int, beside: Future[float]) -> str:
        lacking = every[number]
        with prepared(simulated_cluster, f"role-{number}", tmp_path / str(number), lacking) as workflow:
            began = time.monotonic()

            def is_stuck() -> bool:
                return beside.done() and time.monotonic() - began > STUCK * beside.result()

            try:
                everything(workflow, is_stuck)
                return f"{lacking}: nothing is missing without it"
            except Stuck:
                said = f'cannot {lacking.verb} resource "{lacking.resource}" in API group "{lacking.group}"'
                workflow.until(said, lambda: said in texts(workflow.log))
                return ""

    found: list[str] = []
    for start in range(0, len(every), AT_ONCE):
        with ThreadPoolExecutor(AT_ONCE + 1) as pool:
            beside = pool.submit(whole, start)
            some = range(start, min(start + AT_ONCE, len(every)))
            found += pool.map(partial(wrong, beside=beside), some)
    assert [each for each in found if each] == []


def texts(log: Path) -> str:
    """All that stands in the log's lines."""
    return "\n".join(
        str(value) for line in log.read_text().splitlines() for value in json.loads(line).values()
    )
