"""A source that holds its items, before a workflow on Kubernetes: when it is told that they are done."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from cluster.client import Client
from cluster.deployed import Deployed
from support.localrun import job_template, queue_files
from wqc.contract.names import item_hash
from wqc.runtime.graph.workflow import Ack

PROGRAM = '''"""The manager of the workflow told. wqc made it from told.wq: edit that file, not this one."""
from wqc.runtime import Workflow

workflow = Workflow("told")
names = workflow.source("names", ack="{ack}")
work = workflow.queue("work", names)

if __name__ == "__main__":
    workflow.run()
'''
PERIODS = "backoff=0.2 backoff_limit=1 flush=60 listing=0.5 refused=0.1 lease=6"
TAKES = "6s"


@contextmanager
def holding(items: dict[str, object]) -> Iterator[int]:
    """A Source API whose items go when it is told so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.removeprefix("/api/v1/items").removeprefix("/")
            body: object = {"kind": "ItemList", "apiVersion": "v1", "items": [*items], "wantsDone": True}
            if name:
                body = {"kind": "Item", "apiVersion": "v1", "data": items[name]}
            self.answer(200, json.dumps(body).encode())

        def do_POST(self) -> None:
            items.pop(self.path.split("/")[-2], None)
            self.answer(204, b"")

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


@pytest.mark.parametrize("ack", ["on_start", "on_done"])
def test_it_is_told(simulated_cluster: Client, tmp_path: Path, ack: Ack) -> None:
    items: dict[str, object] = {"a": {"n": 1}}
    files = queue_files("work", "true")
    template = yaml.safe_load(job_template("true"))
    template["spec"]["template"]["metadata"] = {"annotations": {"simulated/takes": TAKES}}
    with holding(items) as port:
        source = {"source": "names", "kind": "http", "options": {"url": f"http://127.0.0.1:{port}"}}
        deployed = Deployed(
            simulated_cluster,
            f"told-{ack.replace('_', '-')}",
            tmp_path,
            PROGRAM.format(ack=ack),
            {"names/source.yaml": yaml.safe_dump(source)},
            {
                "told-manager": {},
                "told-work": {"settings.yaml": files.settings, "job.yaml": yaml.safe_dump(template)},
            },
            PERIODS,
        )
        manager = deployed.start()
        try:
            deployed.wait("the source is told", lambda: not items)
            (job,) = deployed.jobs()
            is_over = bool(job["status"].get("completionTime"))
            recorded = set(deployed.recorded("work"))
            if ack == "on_start":
                assert (is_over, recorded) == (False, set())
            else:
                # though nothing else would have it written for a minute
                assert (is_over, recorded) == (True, {item_hash("a", "")})
        finally:
            manager.terminate()
            manager.wait(timeout=30)
