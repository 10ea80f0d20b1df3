"""A run of a workflow with a meddler before the API server; a manager that ended is started again."""

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import yaml

from cluster.calls import Meddler, Proxy
from cluster.client import Client
from cluster.forked import start_manager
from cluster.segments import segment_of
from support.localrun import job_template, queue_files
from support.ports import free_port
from wqc.contract.limits import SMALL_ITEM_BYTES
from wqc.contract.names import item_hash
from wqc.runtime.queue.ledger import read_segment

MANAGER = '''"""The manager of the workflow crash. wqc made it from crash.wq: edit that file, not this one."""
from wqc.runtime import Workflow

workflow = Workflow("crash")

clips = workflow.source("clips")
kept = workflow.filter("kept", clips, where="item.data.number >= 0")
first = workflow.queue("first", kept)
ended = workflow.merger("ended", {"good": first, "bad": first.failed})
second = workflow.queue("second", ended)

if __name__ == "__main__":
    workflow.run()
'''
PERIODS = "backoff=0.2 backoff_limit=1 flush=0.3 listing=0.5 refused=0.1 lease=4"
RESULT = '{"frames":7}'
ODD, FAILING, RETRIED, LARGE = "clip 03", "clip 07", "clip 13", "clip 17"
ITEMS: dict[str, Any] = {f"clip {number:02}": {"number": number} for number in range(20)}
ITEMS[ODD] = {"name": "without a number"}
ITEMS[FAILING]["simulated_exit_code"] = 65
ITEMS[RETRIED]["simulated_exit_code_at_first"] = 1
ITEMS[LARGE]["text"] = "x" * SMALL_ITEM_BYTES

LOOK = 1.0
"""Seconds between two looks; listing whole Jobs is what costs most here."""
BUSY = 30
"""So often a server is asked that refuses."""


@dataclass
class Outcome:
    """What there is in the end. An item's key is (queue, name)."""

    attempts: Counter[tuple[str, str]] = field(default_factory=Counter)
    recorded: Counter[tuple[str, str]] = field(default_factory=Counter)
    delivered: dict[str, Any] = field(default_factory=dict)
    """The data that the second queue got, by item."""


def expected() -> Outcome:
    """Every item is worked on, recorded once, delivered once; one is tried twice, one fails; one fails in the
    filter, and is held.
    """
    ends = {name: f"{'bad' if name == FAILING else 'good'}:{name}" for name in ITEMS if name != ODD}
    attempts = Counter(("first", name) for name in ends) + Counter([("first", RETRIED), ("kept", ODD)])
    recorded = Counter(("first", name) for name in ends) + Counter(("second", end) for end in ends.values())
    failure = {
        "item": {"name": FAILING, "version": "", "data": ITEMS[FAILING]},
        "reason": "exit code 65",
        "exit_code": 65,
        "attempts": 1,
        "message": RESULT,
    }
    delivered = {end: failure if name == FAILING else json.loads(RESULT) for name, end in ends.items()}
    return Outcome(attempts + Counter(("second", end) for end in ends.values()), recorded, delivered)


class Run:
    """In a namespace of its own; the managers, of which there is one as a rule, reach the API server through
    a proxy.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        folder: Path,
        meddler: Meddler,
        periods: str = "",
        managers: int = 1,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._folder = folder
        self._periods = periods
        self._managers: list[BaseProcess] = []
        self._wanted = managers
        self.starts = 0
        self.log = folder / "log"
        folder.mkdir(parents=True)
        self._deploy()
        self.proxy = Proxy(client, meddler)

    def until_over(self, seconds: float) -> Outcome:
        """Raises TimeoutError."""
        until = time.monotonic() + seconds
        try:
            while True:
                self._managers = [each for each in self._managers if each.is_alive()]
                while len(self._managers) < self._wanted:
                    self._start()
                jobs = self._jobs()
                held = [each for each in jobs if each["spec"].get("suspend")]
                done = [each for each in jobs if "wqc/done" in each["labels"]]
                if held and len(done) >= 2 * len(ITEMS) - 1 and len(held) + len(done) == len(jobs):
                    found = self._outcome()
                    if len(found.delivered) == len(ITEMS) - 1:
                        return found
                if time.monotonic() > until:
                    raise TimeoutError(self.log.read_text()[-4000:])
                time.sleep(LOOK)
        finally:
            self.kill()
            self.proxy.close()

    def _start(self) -> None:
        self.starts += 1
        config = yaml.safe_load(self._client.kubeconfig.read_text())
        config["clusters"][0]["cluster"] = {"server": self.proxy.url}
        config["contexts"][0]["context"]["namespace"] = self._namespace
        (self._folder / "kubeconfig").write_text(yaml.safe_dump(config))
        environment = {
            "KUBECONFIG": str(self._folder / "kubeconfig"),
            "WQC_SETTINGS": str(self._folder / "settings"),
            "WQC_PERIODS": f"{PERIODS} {self._periods}",
            "WQC_PORT": str(free_port()),
        }
        self._managers.append(start_manager(self._folder, environment))

    def kill(self) -> None:
        for manager in self._managers:
            manager.kill()
            manager.join()

    def _deploy(self) -> None:
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._namespace}}
        assert self._client.create(space).status == 201
        core = f"/api/v1/namespaces/{self._namespace}"
        while self._client.request("GET", f"{core}/serviceaccounts/default").status != 200:
            time.sleep(0.05)
        own = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "crash-manager"}}
        assert self._client.create(own | {"data": {"manager.py": MANAGER}}, self._namespace).status == 201
        for queue, result in (("first", RESULT), ("second", "")):
            wanted: dict[str, Any] = {"result": "required"} if result else {}
            files = queue_files(queue, "true", at_once=8, poison=[65], retries=3, **wanted)
            template = yaml.safe_load(job_template("true"))
            template["spec"]["template"]["metadata"] = {"annotations": {"simulated/result": result}}
            data = {"settings.yaml": files.settings, "job.yaml": yaml.safe_dump(template)}
            metadata = {"name": f"crash-{queue}"}
            manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
            assert self._client.create(manifest, self._namespace).status == 201
        settings = self._folder / "settings" / "clips"
        settings.mkdir(parents=True)
        source = {"source": "clips", "kind": "items", "options": {"items": ITEMS}}
        (settings / "source.yaml").write_text(yaml.safe_dump(source))
        (self._folder / "manager.py").write_text(MANAGER)

    # --- what there is ---

    def _listed(self, path: str, **query: str) -> list[dict[str, Any]]:
        """Everything there. Raises TimeoutError: a busy server says so, for a while."""
        for _ in range(BUSY):
            answer = self._client.request("GET", path, **query)
            if answer.status == 200:
                items: list[dict[str, Any]] = answer.body["items"]
                return items
            time.sleep(LOOK)
        raise TimeoutError(f"{path}: {answer}")

    def _jobs(self) -> list[dict[str, Any]]:
        """The Jobs' metadata, and their specs."""
        jobs = self._listed(f"/apis/batch/v1/namespaces/{self._namespace}/jobs")
        return [each["metadata"] | {"spec": each["spec"]} for each in jobs]

    def _outcome(self) -> Outcome:
        found = Outcome()
        for job in self._jobs():
            queue = job["labels"]["wqc/queue"]
            name = json.loads(job["annotations"]["wqc/item"])["name"]
            found.attempts[queue, name] += 1
            if queue == "second":
                annotations = job["spec"]["template"]["metadata"]["annotations"]
                found.delivered[name] = json.loads(annotations["wqc/item"])
        names = {item_hash(name, ""): (queue, name) for queue, name in found.attempts}
        path = f"/api/v1/namespaces/{self._namespace}/configmaps"
        for each in self._listed(path, labelSelector="wqc/ledger"):
            for key in read_segment(segment_of(each))[1]:
                found.recorded[names[key]] += 1
        return found
