"""examples/regions on simulated nodes in three zones, as `wqc build` writes it."""

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from cluster.client import Client
from cluster.deployed import Deployed, is_done, item_of
from cluster.simulated_nodes import create_simulated_node

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "regions.wq"
ZONES = {"a": "eu-west-1a", "b": "eu-west-1b", "c": "eu-west-1c"}
AT_ONCE = 8
"""In each zone, as the example says."""
PERIODS = "backoff=0.1 backoff_limit=0.2 flush=0.3 listing=0.5 refused=0.1 lease=30 unhealthy=4 probe=1"
RETRIES = 3
NINETY_NINE_PERCENT = 9.21
"""Of the chi-square distribution with two degrees of freedom."""


class Catalogue(list[str]):
    """Products, behind the book's two addresses."""

    @contextmanager
    def served(self) -> Iterator[str]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(handler) -> None:  # noqa: N805 - self is the catalogue
                name = unquote(handler.path.removeprefix("/api/v1/items").removeprefix("/"))
                body: object = {"kind": "ItemList", "apiVersion": "v1", "items": self}
                if name:
                    body = {"kind": "Item", "apiVersion": "v1", "data": {"name": name}}
                handler.send_response(200)
                handler.end_headers()
                handler.wfile.write(json.dumps(body).encode())

            def log_message(handler, format: str, *arguments: object) -> None: ...  # noqa: N805

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()

    def add(self, count: int) -> list[str]:
        new = [f"product {number:03}" for number in range(len(self), len(self) + count)]
        self.extend(new)
        return new


class Regions:
    def __init__(self, client: Client, folder: Path) -> None:
        self.client = client
        build = [sys.executable, "-m", "wqc", "build", EXAMPLE, "-o", folder]
        subprocess.run(build, check=True, capture_output=True)
        self.built = folder / "regions"

    def deploy(self, folder: Path, catalogue: str) -> Deployed:
        manager = self._object("manager.yaml", "ConfigMap")["data"]
        source = {"source": "products", "kind": "http", "options": {"url": catalogue}}
        files = {"products/source.yaml": yaml.safe_dump(source)}
        queue = self._object("queue-index.yaml", "ConfigMap")["data"]
        # the autoscaler would take an hour, the usual deadline, for what is listed here
        queue["settings.yaml"] = queue["settings.yaml"].replace("min: 1\n", f"min: {AT_ONCE}\n")
        maps = {"regions-manager": manager, "regions-index": queue}
        deployed = Deployed(self.client, "regions", folder, manager["manager.py"], files, maps, PERIODS)
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "regions-worker"}}
        assert self.client.create(account, "regions").status == 201
        return deployed

    def _object(self, file: str, kind: str) -> dict[str, dict[str, str]]:
        documents = yaml.safe_load_all((self.built / file).read_text())
        return next(each for each in documents if each["kind"] == kind)


@pytest.fixture
def zones(simulated_cluster: Client) -> Iterator[None]:
    names = [f"zone-{shard}" for shard in ZONES]
    for name, zone in zip(names, ZONES.values(), strict=True):
        create_simulated_node(simulated_cluster, name, {"topology.kubernetes.io/zone": zone})
    yield
    for name in names:
        simulated_cluster.request("DELETE", f"/api/v1/nodes/{name}")


def cordon(client: Client, shard: str, unschedulable: bool) -> None:
    change = {"spec": {"unschedulable": unschedulable}}
    assert client.request("PATCH", f"/api/v1/nodes/zone-{shard}", change).status == 200


def lanes(deployed: Deployed, names: list[str], done: bool = False) -> Counter[str]:
    """Jobs of these items by lane."""
    wanted = set(names)
    return Counter(
        job["metadata"]["labels"]["wqc/lane"]
        for job in deployed.jobs()
        if item_of(job)["name"] in wanted and (is_done(job) or not done)
    )


def test_a_catalogue_is_indexed_in_three_zones(
    simulated_cluster: Client, zones: None, tmp_path: Path
) -> None:
    catalogue = Catalogue()
    with catalogue.served() as url:
        deployed = Regions(simulated_cluster, tmp_path / "built").deploy(tmp_path, url)
        everything = catalogue.add(300)
        manager = deployed.start()
        try:
            deployed.wait("all are indexed", lambda: lanes(deployed, everything, done=True).total() == 300)
            evenly = lanes(deployed, everything)
            assert sum((evenly[shard] - 100) ** 2 / 100 for shard in ZONES) < NINETY_NINE_PERCENT, evenly

            # a zone without room: what hasn't a Job goes to the others
            cordon(simulated_cluster, "a", True)
            without_a = catalogue.add(90)
            stuck_in_a = until_only_stuck_are_left(deployed, without_a, ["a"])["a"]
            # and another one: down to a single zone
            cordon(simulated_cluster, "b", True)
            only_c = catalogue.add(60)
            stuck = until_only_stuck_are_left(deployed, only_c, ["a", "b"])
            assert stuck["a"] == 0, "the probe of a zone waits in it already"
            assert 0 < stuck_in_a <= AT_ONCE
            assert 0 < stuck["b"] <= AT_ONCE
            for shard in ("a", "b"):
                cordon(simulated_cluster, shard, False)
            deployed.wait(
                "what waited is indexed", lambda: lanes(deployed, catalogue, done=True).total() == 450
            )
            assert Counter(item_of(job)["name"] for job in deployed.jobs()) == dict.fromkeys(catalogue, 1)
            deployed.wait("all are recorded", lambda: deployed.recorded("index").total() == 450)
            assert set(deployed.recorded("index").values()) == {1}

            manager = a_bad_indexer_comes(deployed, manager)
            later = catalogue.add(60)
            deployed.wait("each is indexed or given up", lambda: len(settled(deployed, later)) == len(later))
            assert "the new template failed; the other lanes keep theirs" in deployed.log.read_text()
            by_end = Counter(settled(deployed, later).values())
            assert {lane for lane, failed in by_end if failed} == {"a"}
            assert {lane for lane, failed in by_end if not failed} == {"b", "c"}
        finally:
            manager.terminate()
            manager.wait(timeout=30)


def until_only_stuck_are_left(deployed: Deployed, names: list[str], down: list[str]) -> Counter[str]:
    """Once all of these items that aren't in a zone that is down are indexed: the others, by zone."""

    def over() -> bool:
        begun, done = lanes(deployed, names), lanes(deployed, names, done=True)
        return begun.total() == len(names) and all(begun[lane] == done[lane] for lane in ZONES.keys() - down)

    deployed.wait(f"only {down} is stuck", over)
    return Counter({lane: count for lane, count in lanes(deployed, names).items() if lane in down})


def a_bad_indexer_comes(deployed: Deployed, manager: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """A new template, and the manager anew, as Argo CD would have it."""
    path = f"{deployed.core}/configmaps/regions-index"
    template = yaml.safe_load(deployed.client.request("GET", path).body["data"]["job.yaml"])
    pod = template["spec"]["template"]
    pod["metadata"]["annotations"] = {"simulated/exit-code": "3"}
    pod["spec"]["containers"][0]["image"] = "registry.example.com/shop/indexer:3.3"
    deployed.client.request("PATCH", path, {"data": {"job.yaml": yaml.safe_dump(template)}})
    manager.terminate()
    manager.wait(timeout=30)
    return deployed.start()


def settled(deployed: Deployed, names: list[str]) -> dict[str, tuple[str, bool]]:
    """Of the items that are indexed or have failed for good: the lane, and whether they failed."""
    attempts = sorted(deployed.jobs(), key=lambda job: int(item_of(job)["attempt"]))
    latest = {item_of(job)["name"]: job for job in attempts if item_of(job)["name"] in names}
    return {
        name: (job["metadata"]["labels"]["wqc/lane"], not is_done(job))
        for name, job in latest.items()
        if is_done(job) or (item_of(job)["failures"] == RETRIES and job["status"].get("failed"))
    }
