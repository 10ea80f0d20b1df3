"""Jobs finished a second: by the manager, by who only creates the same Jobs, by the manager of the book."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from scale.bed import Bed, Queue, bed
from scale.jobs import create, items, manifests
from scale.table import table

from cluster.client import Client
from cluster.controllers import TUNED
from cluster.job_watch import JobWatch, by_name
from support.ambassador import ambassador, source_settings
from wqc.contract.names import object_name

CARRIED = ("--kube-api-qps=125", "--kube-api-burst=250", "--concurrent-job-syncs=20")
"""As fast as controllers may be for two cores to carry everything: no one takes CPU from another."""
WRITTEN = ("jobs", "configmaps")
"""By who only creates: controllers write these Jobs' status, and a ConfigMap for each namespace."""
FOUND = ("serviceaccounts/default", "configmaps/kube-root-ca.crt")
PLAIN = Path(__file__).with_name("plain.py")


class Figure:
    def __init__(
        self, seconds: float, count: int, writes: Counter[str], cpu: float, mebibytes: float
    ) -> None:
        """`writes`: by resource."""
        self.rate = count / seconds
        self.writes = writes.total() / count
        self.job_writes = writes["jobs"] / count
        self.cpu = 1000 * cpu / count
        self.mebibytes = mebibytes


def throughput(count: int, slow_count: int, rounds: int) -> None:
    _compare("tuned to what two cores can't carry (300 requests/s, 20 syncs)", TUNED, count, rounds)
    _compare("tuned to what they can (125 requests/s, 20 syncs)", CARRIED, count, 1)
    _compare("with its defaults", (), slow_count, 1)


def _compare(title: str, flags: tuple[str, ...], count: int, rounds: int) -> None:
    figures: dict[str, list[Figure]] = {}
    runs = {"bare creator": bare, "wqc's manager": managed, "plain manager": plain}
    with TemporaryDirectory() as folder, bed(Path(folder), flags) as ground:
        _warm(ground)
        for number in range(rounds):
            for name, run in runs.items():
                namespace = f"{run.__name__}{number}"
                figures.setdefault(name, []).append(run(ground, namespace, count))
                _clear(ground.client, namespace)
    base = median(each.rate for each in figures["bare creator"])
    rows = []
    for name, several in figures.items():
        rate = median(each.rate for each in several)
        rows.append(
            [
                name,
                f"{rate:.1f}/s",
                f"{100 * rate / base:.0f} %",
                f"{median(each.writes for each in several):.3f}",
                f"{median(each.job_writes for each in several):.3f}",
                f"{median(each.cpu for each in several):.1f} ms" if several[0].cpu else "",
                f"{median(each.mebibytes for each in several):.0f} MiB" if several[0].mebibytes else "",
            ]
        )
    print(f"{count} Jobs of one pod, kube-controller-manager {title}; medians of {rounds}.\n")
    table(
        [
            "",
            "finished",
            "of the bare creator",
            "writes an attempt",
            "to Jobs",
            "CPU an attempt",
            "peak memory",
        ],
        rows,
    )


def managed(ground: Bed, namespace: str, count: int) -> Figure:
    queue = Queue("work", count)
    deployed = ground.deploy(namespace, [queue], {"items": items(count)})
    with JobWatch(ground.client, namespace, by_name) as seen, deployed.manage():
        deployed.until(
            "all is recorded", lambda: deployed.metric("wqc_items", state="done") == count, pause=2
        )
        deployed.until("all is marked", lambda: len(seen.marked) == count)
        writes, cpu, peak = deployed.writes(), deployed.cpu_seconds(), deployed.mebibytes("VmHWM")
    return Figure(seen.seconds, count, writes, cpu, peak)


def bare(ground: Bed, namespace: str, count: int) -> Figure:
    """The very Jobs that the manager makes, and nothing else."""
    client = ground.client
    _space(client, namespace)
    queue = Queue("work", count)
    holder = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": object_name(namespace, "work")}}
    client.create(holder, namespace)
    made = list(manifests(client, namespace, queue, items(count)))
    with JobWatch(client, namespace, by_name) as seen:
        before = ground.writes(*WRITTEN)
        create(client, namespace, made)
        _wait(lambda: len(seen.completed) == count)
        writes = ground.writes(*WRITTEN) - before
    return Figure(seen.seconds, count, writes, 0, 0)


def plain(ground: Bed, namespace: str, count: int) -> Figure:
    """The manager after the book's listing over one of our sources: a round each second."""
    client = ground.client
    _space(client, namespace)
    folder = ground.folder / namespace
    folder.mkdir()
    source_settings(folder, "names", "items", items=items(count))
    with JobWatch(client, namespace, by_name) as seen, ambassador(["source", "names"], folder) as served:
        before = ground.writes(*WRITTEN)
        words = [sys.executable, PLAIN, client.kubeconfig, served.url, namespace]
        found = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, env=found)
        try:
            _wait(lambda: len(seen.completed) == count)
            status = Path(f"/proc/{process.pid}/status").read_text()
            peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            writes = ground.writes(*WRITTEN) - before
        finally:
            process.kill()
            process.wait()
    return Figure(seen.seconds, count, writes, (int(fields[11]) + int(fields[12])) / 100, peak)


def _space(client: Client, namespace: str) -> None:
    """A namespace that has what controllers put into it."""
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    paths = [f"/api/v1/namespaces/{namespace}/{each}" for each in FOUND]
    _wait(lambda: all(client.request("GET", path).status == 200 for path in paths))


def _warm(ground: Bed) -> None:
    """The first Jobs of a new control plane take longer, whoever makes them."""
    bare(ground, "warm", 20)


def _clear(client: Client, namespace: str) -> None:
    """What is left of a run isn't the next one's burden."""
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    client.request(
        "DELETE", path, {"propagationPolicy": "Background", "kind": "DeleteOptions", "apiVersion": "v1"}
    )
    pods = f"/api/v1/namespaces/{namespace}/pods"
    _wait(lambda: not client.request("GET", pods, limit="1").body["items"], 600)


def _wait(holds: Callable[[], bool], seconds: float = 900) -> None:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise TimeoutError(f"not after {seconds:.0f} s")
        time.sleep(0.1)
