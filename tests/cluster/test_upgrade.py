"""A queue's template changes, or its name, while Jobs are under way: nothing is lost, nothing repeated."""

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from cluster.client import Client
from cluster.test_manager import MANAGER, PERIODS, Crash
from support.localrun import queue_files
from wqc.contract.names import item_hash
from wqc.runtime.queue.templates import digest_of

ITEMS = [f"item {number}" for number in range(10)]
SLOW = "4s"


def in_namespace(client: Client, namespace: str, folder: Path) -> Crash:
    deployed = Crash(client, namespace, folder, ITEMS)
    # nobody starts it again if it loses its Lease while the machine is busy
    deployed.environment["WQC_PERIODS"] = PERIODS.replace("lease=3", "lease=6")
    return deployed


def config_map(deployed: Crash, name: str) -> dict[str, Any]:
    found: dict[str, Any] = deployed.client.request("GET", f"{deployed.core}/configmaps/{name}").body
    return found


def changed(deployed: Crash, name: str, **notes: str) -> str:
    """The queue's new job.yaml, whose pods have these simulated/ annotations."""
    template = yaml.safe_load(config_map(deployed, name)["data"]["job.yaml"])
    annotations = {f"simulated/{key}": value for key, value in notes.items()}
    template["spec"]["template"]["metadata"] = {"annotations": annotations}
    text = yaml.safe_dump(template)
    path = f"{deployed.core}/configmaps/{name}"
    assert deployed.client.request("PATCH", path, {"data": {"job.yaml": text}}).status == 200
    return text


def copies(deployed: Crash, queue: str) -> set[str]:
    selected = {"labelSelector": f"wqc/template,wqc/queue={queue}"}
    found = deployed.client.request("GET", f"{deployed.core}/configmaps", **selected).body["items"]
    assert all(each["immutable"] for each in found)
    return {each["metadata"]["labels"]["wqc/template"] for each in found}


def until(deployed: Crash, holds: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, deployed.log.read_text()[-4000:]
        time.sleep(0.2)


def stopped(manager: subprocess.Popen[bytes]) -> None:
    manager.terminate()
    assert manager.wait(timeout=30) == 0


def worked(deployed: Crash) -> Counter[tuple[str, str]]:
    return Counter(
        (
            job["metadata"]["labels"]["wqc/queue"],
            json.loads(job["metadata"]["annotations"]["wqc/item"])["name"],
        )
        for job in deployed.jobs()
    )


def test_attempts_finish_with_the_template_that_they_were_started_with(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    deployed = in_namespace(simulated_cluster, "upgrade", tmp_path)
    old = changed(deployed, "crash-first", result='{"n": 1}', takes=SLOW)
    manager = deployed.start()
    until(deployed, lambda: len(deployed.jobs()) >= 4)
    stopped(manager)
    new = changed(deployed, "crash-first", result='{"n": 2}')
    manager = deployed.start()
    until(deployed, lambda: copies(deployed, "first") == {digest_of(old), digest_of(new)})
    until(deployed, lambda: deployed.is_over(len(ITEMS)))
    until(deployed, lambda: copies(deployed, "first") == {digest_of(new)})
    stopped(manager)
    assert worked(deployed) == Counter((queue, name) for queue in ("first", "second") for name in ITEMS)
    made_by = {old: '{"n": 1}', new: '{"n": 2}'}
    results = {digest_of(text): result for text, result in made_by.items()}
    expected = {}
    delivered = {}
    for job in deployed.jobs():
        name = json.loads(job["metadata"]["annotations"]["wqc/item"])["name"]
        if job["metadata"]["labels"]["wqc/queue"] == "first":
            expected[name] = results[job["metadata"]["labels"]["wqc/template"]]
        else:
            delivered[name] = job["spec"]["template"]["metadata"]["annotations"]["wqc/item"]
    assert delivered == expected
    assert set(expected.values()) == set(made_by.values())


def test_a_renamed_queue_goes_on_where_it_was(simulated_cluster: Client, tmp_path: Path) -> None:
    deployed = in_namespace(simulated_cluster, "renamed", tmp_path)
    manager = deployed.start()
    until(deployed, lambda: bool(deployed.recorded("first")))
    changed(deployed, "crash-first", result='{"n": 1}', takes=SLOW)
    stopped(manager)
    manager = deployed.start()
    until(deployed, lambda: len(deployed.jobs()) > 6)
    manager.kill()
    manager.wait()
    renamed = MANAGER.replace('first = workflow.queue("first"', 'first = workflow.queue("primary"')
    (tmp_path / "manager.py").write_text(renamed)
    files = queue_files("primary", "true", result="required", formerly="first")
    data = {"settings.yaml": files.settings, "job.yaml": changed(deployed, "crash-first", result='{"n": 1}')}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "crash-primary"}, "data": data}
    assert simulated_cluster.create(manifest, deployed.namespace).status == 201
    manager = deployed.start()
    until(deployed, lambda: deployed.is_over(len(ITEMS)))
    until(deployed, lambda: not deployed.recorded("first"))
    stopped(manager)
    assert deployed.recorded("primary") == Counter(item_hash(name, "") for name in ITEMS)
    assert copies(deployed, "primary")
    assert not copies(deployed, "first")
    by_item = Counter(name for (queue, name) in worked(deployed).elements() if queue != "second")
    assert by_item == Counter(ITEMS)
    assert {queue for queue, _ in worked(deployed)} == {"first", "primary", "second"}
    assert Counter(name for (queue, name) in worked(deployed).elements() if queue == "second") == by_item
