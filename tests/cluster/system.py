"""A workflow on the real node as its users bring it there: `wqc build`, `kubectl apply -k`, claims."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from cluster.client import Client
from cluster.real_node import NAME as NODE
from cluster.real_node import RealNode
from cluster.segments import segment_of
from wqc.contract.names import object_name
from wqc.runtime.queue.ledger import read_segment

KUBECTL = Path(sys.prefix, "bin", "kubectl")
WORKER = 10001
"""The user and the group of what wqc writes."""


class System:
    """A workflow in a namespace of its own; `volumes` are folders by claim. Other files are in `folder`.

    As a context manager it leaves nothing running.
    """

    def __init__(self, node: RealNode, workflow: str, folder: Path, volumes: Mapping[str, Path]) -> None:
        self.node = node
        self.client = Client(node.kubeconfig)
        self.workflow = workflow
        self.object_name = object_name(workflow)
        self.namespace = f"test-{self.object_name}"
        self.folder = folder
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        for claim, path in volumes.items():
            self._volume(claim, path)

    def __enter__(self) -> "System":
        return self

    def __exit__(self, *_: object) -> None:
        if self.listed("apps/v1/deployments"):
            self.kubectl("scale", "deployment", "--all", "--replicas=0")
        self.kubectl("delete", "jobs", "--all", "--wait=false")

    # --- what a user does ---

    def apply(self, source: Path, periods: str = "", *options: str) -> None:
        """Build the `.wq` file and apply what came out; `periods` shortens the manager's."""
        out = str(self.folder / "out")
        self._run([sys.executable, "-m", "wqc", "build", str(source), "-o", out, *options])
        target = self.folder / "out" / self.workflow
        if periods:
            target = self._overlay(target, periods)
        self.kubectl("apply", "-k", str(target))

    def create(self, manifest: dict[str, Any]) -> None:
        answer = self.client.create(manifest, self.namespace)
        assert answer.status == 201, answer.body

    def kubectl(self, *arguments: str) -> str:
        return self._run(
            [str(KUBECTL), "--kubeconfig", str(self.node.kubeconfig), "-n", self.namespace, *arguments]
        )

    def delete_manager(self) -> None:
        """As `kubectl delete pod` does; the Deployment makes another."""
        self.kubectl("delete", "pod", "--selector", "app.kubernetes.io/component=manager", "--wait=false")

    # --- what is there ---

    def listed(self, path: str, selector: str = "") -> list[dict[str, Any]]:
        """`path` below `/api/v1` or `/apis`: `configmaps`, `batch/v1/jobs`."""
        version, _, resource = path.rpartition("/")
        root = f"/apis/{version}" if version else "/api/v1"
        answer = self.client.request(
            "GET", f"{root}/namespaces/{self.namespace}/{resource}", labelSelector=selector
        )
        assert answer.status == 200, answer.body
        found: list[dict[str, Any]] = answer.body["items"]
        return found

    def manager(self) -> str:
        """The name of the manager's pod that is ready; "" if none is, or more than one."""
        pods = self.listed("pods", "app.kubernetes.io/component=manager")
        ready = [pod["metadata"]["name"] for pod in pods if _is_ready(pod)]
        return ready[0] if len(ready) == 1 else ""

    def jobs(self, queue: str) -> list[dict[str, Any]]:
        return self.listed("batch/v1/jobs", f"wqc/queue={queue}")

    def attempts(self, queue: str) -> Counter[str]:
        """Jobs by item's name."""
        return Counter(item_of(job)["name"] for job in self.jobs(queue))

    def recorded(self, queue: str) -> Counter[bytes]:
        found: Counter[bytes] = Counter()
        for each in self.listed("configmaps", f"wqc/ledger={queue}"):
            found.update(read_segment(segment_of(each))[1])
        return found

    def finished(self, queue: str) -> int:
        """Items that are recorded, with their Jobs marked so."""
        marked = {item_of(job)["name"] for job in self.jobs(queue) if "wqc/done" in job["metadata"]["labels"]}
        return min(len(marked), self.recorded(queue).total())

    def wait_finished(self, queue: str, count: int) -> None:
        self.wait(f"{count} of {queue} are recorded", lambda: self.finished(queue) == count)

    def wait(self, what: str, ready: Callable[[], bool], seconds: float = 240) -> None:
        until = time.monotonic() + seconds
        while not ready():
            assert time.monotonic() < until, f"{what}: not after {seconds:.0f} s\n{self.story()}"
            time.sleep(0.3)

    def story(self) -> str:
        """What a person would look at: pods, what workers and manager wrote, events."""
        logs = ["logs", "--all-containers", "--ignore-errors", "--max-log-requests=50", "--selector"]
        parts = [
            self.kubectl("get", "jobs,pods"),
            self.kubectl(*logs, "app.kubernetes.io/component=worker", "--prefix", "--tail=5"),
            self.kubectl(*logs, "app.kubernetes.io/component=manager", "--tail=40"),
            self.kubectl("get", "events", "--sort-by=.lastTimestamp"),
        ]
        return "\n".join(part[-4000:] for part in parts)

    # --- inside ---

    def _volume(self, claim: str, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        os.chown(path, WORKER, WORKER)
        name = f"{self.namespace}-{claim}"
        size, modes = {"storage": "1Gi"}, ["ReadWriteMany"]
        here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE]}
        self.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": name},
                "spec": {
                    "capacity": size,
                    "accessModes": modes,
                    "storageClassName": "",
                    "local": {"path": str(path)},
                    "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
                    "claimRef": {"namespace": self.namespace, "name": claim},
                },
            }
        )
        self.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": claim},
                "spec": {
                    "storageClassName": "",
                    "volumeName": name,
                    "accessModes": modes,
                    "resources": {"requests": size},
                },
            }
        )

    def _overlay(self, base: Path, periods: str) -> Path:
        """As people change what wqc built, without touching it."""
        folder = self.folder / "overlay"
        folder.mkdir(exist_ok=True)
        variable = {"name": "WQC_PERIODS", "value": periods}
        patch = [{"op": "add", "path": "/spec/template/spec/containers/0/env", "value": [variable]}]
        kustomization = {
            "resources": [os.path.relpath(base, folder)],
            "patches": [{"target": {"kind": "Deployment"}, "patch": json.dumps(patch)}],
        }
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
        return folder

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def item_of(job: dict[str, Any]) -> dict[str, Any]:
    """Name, version and attempt of the item that a Job is for."""
    read: dict[str, Any] = json.loads(job["metadata"]["annotations"]["wqc/item"])
    return read
