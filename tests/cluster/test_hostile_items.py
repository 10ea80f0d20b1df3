"""Whatever an item is called and holds: the API server takes its Job, and gives back what the item was."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, example, given, settings

from cluster.client import Client
from cluster.managed import Managed
from support.hostile import SNIPPETS, items
from support.localrun import job_template, queue_files
from wqc.contract.limits import NAME_LENGTH
from wqc.contract.names import item_hash, job_name
from wqc.contract.settings import Lane, Parallelism
from wqc.runtime.queue.attempt import Identity, job_manifest
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.kubernetes.store import KubernetesStore
from wqc.runtime.stores.kubernetes.transport import Transport

NAMESPACE = "hostile"
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
ALL: dict[str, Any] = {snippet: {"text": snippet, snippet: snippet} for snippet in SNIPPETS}
ALL |= {name.swapcase() + name: list(name) for name in SNIPPETS}


async def made(client: Client, given_items: dict[str, Any]) -> list[Job]:
    """Each item's Job, as the API server has it."""
    store = KubernetesStore(Transport(client.api), NAMESPACE, "demo", lambda: True)
    owner = (await store.files("work")).owner
    template = yaml.safe_load(job_template("true"))

    async def make(name: str, data: Any) -> Job:
        job = job_name("demo-work", item_hash(name, name), 1)
        identity = Identity(name, name, 0, 1, 0)
        lane = Lane("", Parallelism(1, 1))
        text = json.dumps(data)
        manifest = job_manifest(template, owner, "demo", "work", lane, job, identity, text)
        await store.create("work", manifest, text)
        found = await store.get("work", job)
        assert found
        return found

    try:
        return list(await asyncio.gather(*(make(name, data) for name, data in given_items.items())))
    finally:
        await store.close()


def prepared(client: Client) -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    if client.create(space).status == 201:
        files = queue_files("work", "true")
        data = {"settings.yaml": files.settings, "job.yaml": files.job}
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "demo-work"}, "data": data}
        assert client.create(manifest, NAMESPACE).status == 201


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_items=items(least=5, most=25))
@example(given_items=ALL)
def test_a_job_has_what_the_item_is(api_server: Client, given_items: dict[str, Any]) -> None:
    prepared(api_server)
    jobs = asyncio.run(made(api_server, given_items))
    assert len({job.job for job in jobs}) == len(given_items), "no two share a Job"
    for job, (name, data) in zip(jobs, given_items.items(), strict=True):
        assert LABEL.fullmatch(job.job)
        assert len(job.job) <= 63
        assert (job.name, job.version) == (name, name)
        assert json.dumps(json.loads(job.data)) == json.dumps(data)
    path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
    (container,) = {
        json.dumps(job["spec"]["template"]["spec"]["containers"], sort_keys=True)
        for job in api_server.request("GET", path).body["items"]
    }
    assert "canary" not in container, "nothing of an item is in arguments or environment"
    api_server.request("DELETE", path, propagationPolicy="Background")
    while api_server.request("GET", path).body["items"]:
        time.sleep(0.05)


def test_an_item_that_is_too_large_keeps_no_other_from_working(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    """A name of a MiB fits into no object; data of a MiB is held. Their neighbours don't notice."""
    megabyte = "x" * 2**20
    given_items = {megabyte: 1, "large": megabyte, "n" * NAME_LENGTH: "\0", "small": 2}
    listing = {"source": "names", "kind": "items", "options": {"items": given_items}}
    text = """
source names: items { items = ["replaced"] }
worker plain { image = "example.com/plain:1", command = ["work"] }
queue first { from = names, worker = plain, parallelism = 4 }
"""
    with Managed(simulated_cluster, "large", "hostile-large", tmp_path, text, "announce=1") as workflow:
        (tmp_path / "settings" / "names" / "source.yaml").write_text(yaml.safe_dump(listing))
        workflow.start()
        workflow.until("the others are done", lambda: workflow.is_done("first", ["small", "n" * NAME_LENGTH]))
        workflow.until("the large item is held", lambda: workflow.status("first").get("failed") == 1)
        (failure,) = workflow.status("first")["failures"]
        assert failure["item"] == "large"
        assert failure["reason"] == f"its data is {2**20 + 2} bytes of JSON; 921600 fit"
        (source,) = json.loads(workflow.state()["status"])["status"]["sources"]
        assert source["problem"] == (
            f"{megabyte[:200]}: its name or version has more than {NAME_LENGTH} characters"
        )
        workflow.until("Events say so", lambda: len(workflow.warnings()) == 2)
        assert {reason for reason, _ in workflow.warnings()} == {"SourceFails", "ItemsFailed"}
