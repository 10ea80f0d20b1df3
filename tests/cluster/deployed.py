"""A workflow's objects in a namespace of its own, and its manager as a process outside the cluster."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from cluster.client import Client
from cluster.segments import segment_of
from support.ports import free_port
from wqc.contract.names import MANAGER, object_name
from wqc.runtime.queue.ledger import read_segment


class Deployed:
    """`program` is the manager's; `settings`: its files by path, `maps`: ConfigMaps' data by name."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        folder: Path,
        program: str,
        settings: Mapping[str, str],
        maps: Mapping[str, Mapping[str, str]],
        periods: str,
    ) -> None:
        self.client = client
        self.namespace = namespace
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        while client.request("GET", f"{self.core}/serviceaccounts/default").status != 200:
            time.sleep(0.05)
        (workflow,) = re.findall(r'Workflow\("(\w+)"\)', program)
        own = {object_name(workflow, MANAGER): {"manager.py": program}}
        for name, data in {**own, **maps}.items():
            config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
            client.create(config_map, namespace)
        for path, text in settings.items():
            (folder / "settings" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "settings" / path).write_text(text)
        config = yaml.safe_load(client.kubeconfig.read_text())
        config["contexts"][0]["context"]["namespace"] = namespace
        (folder / "kubeconfig").write_text(yaml.safe_dump(config))
        (folder / "manager.py").write_text(program)
        self.log = folder / "log"
        self.port = free_port()
        self.command = [sys.executable, str(folder / "manager.py")]
        self.environment = os.environ | {
            "KUBECONFIG": str(folder / "kubeconfig"),
            "WQC_SETTINGS": str(folder / "settings"),
            "WQC_PERIODS": periods,
            "WQC_PORT": str(self.port),
        }

    @property
    def core(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}"

    def start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(self.command, env=self.environment, stderr=log)

    def says(self, path: str) -> tuple[int, str]:
        """What the manager answers over HTTP; status 0 while it doesn't."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def jobs(self) -> list[dict[str, Any]]:
        jobs: list[dict[str, Any]] = self.client.request(
            "GET", f"/apis/batch/v1/namespaces/{self.namespace}/jobs"
        ).body["items"]
        return jobs

    def recorded(self, queue: str) -> Counter[bytes]:
        selected = {"labelSelector": f"wqc/ledger={queue}"}
        found: Counter[bytes] = Counter()
        for each in self.client.request("GET", f"{self.core}/configmaps", **selected).body["items"]:
            found.update(read_segment(segment_of(each))[1])
        return found

    def wait(self, what: str, holds: Callable[[], bool], seconds: float = 240) -> None:
        until = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < until, (
                f"{what}: not after {seconds:.0f} s\n{self.log.read_text()[-4000:]}"
            )
            time.sleep(0.3)


def item_of(job: Mapping[str, Any]) -> dict[str, Any]:
    """Name, version and attempt of the item that a Job is for."""
    read: dict[str, Any] = json.loads(job["metadata"]["annotations"]["wqc/item"])
    return read


def is_done(job: Mapping[str, Any]) -> bool:
    return "wqc/done" in job["metadata"]["labels"]
