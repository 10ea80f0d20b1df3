"""A workflow as `wqc build` makes it, in a namespace of its own; its manager runs outside the cluster.

What it may do there is what its Role allows: it has a token of its service account.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import yaml

from cluster.client import Client, Manifest
from cluster.forked import start_manager
from cluster.segments import segment_of
from support.built import Folder
from support.ports import free_port
from wqc.contract.names import object_name
from wqc.runtime.queue.ledger import read_segment
from wqc.runtime.stores.store import Segment

PERIODS = "backoff=0.2 backoff_limit=1 flush=0.3 listing=0.5 refused=0.1 refused_limit=1 report=0.3 lease=6"
APPLIED = ("ConfigMap", "ServiceAccount", "Role", "RoleBinding")


class Managed:
    """`text` is the `.wq` file without its first block. As a context manager it leaves no process."""

    def __init__(
        self, client: Client, workflow: str, namespace: str, folder: Path, text: str, periods: str = ""
    ) -> None:
        self.client = client
        self.workflow = workflow
        self.namespace = namespace
        self.folder = folder
        self.log = folder / "log"
        self.manager: BaseProcess | None = None
        self._periods = f"{PERIODS} {periods}"
        folder.mkdir(parents=True, exist_ok=True)
        self.log.touch()
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        while client.request("GET", f"{self.core}/serviceaccounts/default").status != 200:
            time.sleep(0.05)
        self.apply(text)

    def __enter__(self) -> "Managed":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    # --- what a user does ---

    def apply(self, text: str, change: Callable[[Manifest], None] = lambda manifest: None) -> None:
        """As `kubectl apply` does. `change` is made to each object before."""
        folder = Folder(f'workflow {self.workflow} {{ namespace = "{self.namespace}" }}\n{text}')
        for name in folder.built.files:
            for manifest in folder.objects(name) if name.endswith(".yaml") else ():
                if manifest.get("kind") in APPLIED:
                    change(manifest)
                    self.put(manifest)
                if name.startswith("source-") and manifest["kind"] == "ConfigMap":
                    settings = manifest["data"]["source.yaml"]
                    place = self.folder / "settings" / yaml.safe_load(settings)["source"]
                    place.mkdir(parents=True, exist_ok=True)
                    (place / "source.yaml").write_text(settings)
        (self.folder / "manager.py").write_text(folder.program())

    def put(self, manifest: Manifest) -> Manifest:
        """Create it, or make it so."""
        answer = self.client.create(manifest, self.namespace)
        if answer.status == 409:
            path = f"{self.client.collection(manifest, self.namespace)}/{manifest['metadata']['name']}"
            answer = self.client.request("PATCH", path, manifest)
        assert answer.status in (200, 201), answer
        made: Manifest = answer.body
        return made

    # --- its manager ---

    def environment(self) -> dict[str, str]:
        """What its manager needs."""
        account = f"{self.core}/serviceaccounts/{object_name(self.workflow)}-manager"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = self.client.request("POST", f"{account}/token", request).body["status"]["token"]
        config = yaml.safe_load(self.client.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": token}
        config["contexts"][0]["context"]["namespace"] = self.namespace
        (self.folder / "kubeconfig").write_text(yaml.safe_dump(config))
        return {
            "KUBECONFIG": str(self.folder / "kubeconfig"),
            "WQC_SETTINGS": str(self.folder / "settings"),
            "WQC_PERIODS": self._periods,
            "WQC_PORT": str(free_port()),
        }

    def start(self) -> None:
        self.manager = start_manager(self.folder, self.environment())

    def kill(self) -> None:
        if self.manager:
            self.manager.kill()
            self.manager.join()

    def stop(self) -> None:
        """As the kubelet does."""
        assert self.manager
        self.manager.terminate()
        self.manager.join(30)
        assert self.manager.exitcode == 0, self.log.read_text()[-4000:]

    def until(self, what: str, holds: Callable[[], object], seconds: float = 90) -> None:
        """A manager that ends is started again, as a Deployment does. Raises TimeoutError."""
        end = time.monotonic() + seconds
        while not holds():
            if self.manager and not self.manager.is_alive():
                self.start()
            if time.monotonic() > end:
                raise TimeoutError(f"{what}: not after {seconds:.0f} s\n{self.log.read_text()[-4000:]}")
            time.sleep(0.2)

    # --- what is there ---

    @property
    def core(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}"

    @property
    def batch(self) -> str:
        return f"/apis/batch/v1/namespaces/{self.namespace}"

    def listed(self, path: str, **query: str) -> list[Manifest]:
        answer = self.client.request("GET", path, **query)
        assert answer.status == 200, answer
        found: list[Manifest] = answer.body["items"]
        return found

    def jobs(self, queue: str) -> list[Manifest]:
        """In the order of their names."""
        found = self.listed(f"{self.batch}/jobs", labelSelector=f"wqc/queue={queue}")
        return sorted(found, key=lambda job: str(job["metadata"]["name"]))

    def pods(self, job: Manifest) -> list[Manifest]:
        name = job["metadata"]["name"]
        return self.listed(f"{self.core}/pods", labelSelector=f"batch.kubernetes.io/job-name={name}")

    def attempts(self, queue: str) -> Counter[str]:
        """Jobs by item's name."""
        return Counter(identity(job)["name"] for job in self.jobs(queue))

    def delivered(self, queue: str) -> dict[str, Any]:
        """The data that its Jobs have, by item."""
        return {
            identity(job)["name"]: json.loads(job["spec"]["template"]["metadata"]["annotations"]["wqc/item"])
            for job in self.jobs(queue)
        }

    def is_done(self, queue: str, names: Iterable[str]) -> bool:
        """Each has a Job that is marked done."""
        done = [job for job in self.jobs(queue) if "wqc/done" in job["metadata"]["labels"]]
        return {identity(job)["name"] for job in done} >= set(names)

    def segments(self, queue: str) -> list[Segment]:
        return [
            segment_of(each)
            for each in self.listed(f"{self.core}/configmaps", labelSelector=f"wqc/ledger={queue}")
        ]

    def recorded(self, queue: str) -> Counter[bytes]:
        return Counter(key for each in self.segments(queue) for key in read_segment(each)[1])

    def state(self) -> dict[str, str]:
        found = self.client.request("GET", f"{self.core}/configmaps/{object_name(self.workflow)}-state").body
        entries: dict[str, str] = found.get("data") or {}
        return entries

    def status(self, queue: str) -> dict[str, Any]:
        """What the manager says of it; nothing before it said anything."""
        report = json.loads(self.state().get("status", '{"status": {"queues": []}}'))
        queues: list[dict[str, Any]] = report["status"]["queues"]
        return next((each for each in queues if each["queue"] == queue), {})

    def blocked(self, queue: str) -> str:
        return str(self.status(queue).get("blocked", ""))

    def notice(self, queue: str) -> str:
        return str(self.status(queue).get("notice", ""))

    def events(self, node: str) -> list[tuple[str, str]]:
        """Reasons and messages of those about a queue or, of the node `manager`, a source; as they came."""
        name = object_name(self.workflow, node)
        return self._events(f"involvedObject.kind=ConfigMap,involvedObject.name={name}")

    def warnings(self) -> list[tuple[str, str]]:
        """Of all that the manager says."""
        return self._events("involvedObject.kind=ConfigMap,type=Warning")

    def _events(self, selector: str) -> list[tuple[str, str]]:
        found = self.listed(f"{self.core}/events", fieldSelector=selector)
        found.sort(key=lambda each: (each["lastTimestamp"], each["reason"]))
        return [(each["reason"], each["message"]) for each in found]


def identity(job: Manifest) -> dict[str, Any]:
    """Name, version, round, attempt and failures of the item that a Job is for."""
    read: dict[str, Any] = json.loads(job["metadata"]["annotations"]["wqc/item"])
    return read
