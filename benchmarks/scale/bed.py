"""A workflow's manager beside a cluster of simulated nodes, and what can be seen of both from outside."""

import os
import re
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from cluster.client import Client
from cluster.control_plane import ControlPlane
from cluster.controllers import start_controllers
from cluster.deployed import Deployed
from cluster.simulated_nodes import start_simulated_nodes
from support.localrun import job_template, queue_files

LONG = "86400s"
"""How long a simulated worker takes that isn't to end."""
WRITES = ("create", "update", "patch", "delete")
METHODS = ("POST", "PUT", "PATCH", "DELETE")
ASKED = re.compile(r'^wqc_api_requests_total\{.*verb="(\w+)",resource="(\w+)".*\} (\d+)', re.M)


class Bed:
    client: Client
    """Once it has started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.control_plane = ControlPlane(folder / "control-plane")

    def start(self, controllers: Sequence[str]) -> None:
        """`controllers`: flags of kube-controller-manager."""
        self.control_plane.start()
        start_controllers(self.control_plane, *controllers)
        start_simulated_nodes(self.control_plane)
        self.client = Client(self.control_plane.kubeconfig)

    def deploy(
        self,
        namespace: str,
        queues: Sequence["Queue"],
        source: Mapping[str, Any],
        periods: str = "",
        where: str = "",
    ) -> "Running":
        """Queues in a row behind one source, and behind a filter where there is a condition."""
        folder = self.folder / namespace
        folder.mkdir()
        lines = ["from wqc.runtime import Workflow", f'workflow = Workflow("{namespace}")']
        lines.append(
            f'stream = workflow.source("items"{", url=" + repr(source["url"]) if "url" in source else ""})'
        )
        lines += [f'stream = workflow.filter("chosen", stream, where={where!r})'] if where else []
        lines += [f'stream = workflow.queue("{queue.name}", stream)' for queue in queues]
        settings = {
            "items/source.yaml": yaml.safe_dump({"source": "items", "kind": "items", "options": dict(source)})
        }
        files = {f"{namespace}-{queue.name}": queue.files() for queue in queues}
        program = "\n".join([*lines, "workflow.run()", ""])
        files[f"{namespace}-manager"] = {"manager.py": program}
        return Running(self.client, namespace, folder, program, settings, files, periods)

    def etcd(self, measure: str) -> float:
        """One of etcd's own metrics: its API server is etcd's only client."""
        command = (self.control_plane.folder / "logs" / "etcd.log").read_text(errors="replace")
        (address,) = set(re.findall(r'"listen-client-urls":\["(http://[^"]+)"\]', command))
        with urllib.request.urlopen(f"{address}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        return float(re.search(rf"^{measure} (\S+)$", text, re.M)[1])  # type: ignore[index]

    def writes(self, *resources: str) -> Counter[str]:
        """So far, by anybody: requests to make, change or delete such objects, but not their status alone; by
        resource.
        """
        found: Counter[str] = Counter()
        for line in self.client.text("/metrics").splitlines():
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            if (
                line.startswith("apiserver_request_total{")
                and labels["verb"] in METHODS
                and labels["resource"] in resources
                and not labels["subresource"]
            ):
                found[labels["resource"]] += int(float(line.rpartition(" ")[2]))
        return found

    def stop_controllers(self) -> None:
        """From now on Jobs and pods stay as they are."""
        for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
            self.control_plane.processes.kill(name)

    def stop(self) -> None:
        self.control_plane.stop()


@contextmanager
def bed(folder: Path, controllers: Sequence[str]) -> Iterator[Bed]:
    folder.mkdir(parents=True, exist_ok=True)
    made = Bed(folder)
    try:
        made.start(controllers)
        yield made
    finally:
        made.stop()


class Queue:
    """`takes`: how long a simulated worker does; at once without it."""

    def __init__(self, name: str, at_once: int, takes: str = "", **settings: Any) -> None:
        self.name = name
        self.at_once = at_once
        self.template = yaml.safe_load(job_template("true"))
        annotations = {"simulated/takes": takes} if takes else {}
        self.template["spec"]["template"]["metadata"] = {"annotations": annotations}
        self._settings = queue_files(name, "true", at_once=at_once, **settings).settings

    def files(self) -> dict[str, str]:
        return {"settings.yaml": self._settings, "job.yaml": yaml.safe_dump(self.template)}


class Running(Deployed):
    """A manager as a process; started with `manage`."""

    process: "subprocess.Popen[bytes]"

    @contextmanager
    def manage(self) -> Iterator[None]:
        self.process = self.start()
        try:
            yield
        finally:
            self.process.terminate()
            self.process.wait(timeout=60)

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric's samples that have these labels."""
        total = 0.0
        for line in self.says("/metrics")[1].splitlines():
            if line.startswith(f"{name}{{") and all(
                f'{key}="{value}"' in line for key, value in labels.items()
            ):
                total += float(line.rpartition(" ")[2])
        return total

    def asked(self) -> Counter[tuple[str, str]]:
        """How often it asked the API server, by verb and resource."""
        found: Counter[tuple[str, str]] = Counter()
        for verb, resource, count in ASKED.findall(self.says("/metrics")[1]):
            found[verb, resource] += int(count)
        return found

    def writes(self) -> Counter[str]:
        """By resource."""
        found: Counter[str] = Counter()
        for (verb, resource), count in self.asked().items():
            if verb in WRITES:
                found[resource] += count
        return found

    def mebibytes(self, measure: str) -> float:
        """`RssAnon`: anonymous memory now; `VmHWM`: the most that ever was in memory, files included."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{measure}:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def until(self, what: str, holds: Callable[[], bool], seconds: float = 900, pause: float = 0.2) -> float:
        """How long that took. `pause`: seconds between two looks; to be asked costs a manager CPU too."""
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > seconds:
                raise TimeoutError(f"{what}: not after {seconds:.0f} s\n{self.log.read_text()[-2000:]}")
            if self.process.poll() is not None:
                raise RuntimeError(f"the manager ended:\n{self.log.read_text()[-2000:]}")
            time.sleep(pause)
        return time.monotonic() - began
