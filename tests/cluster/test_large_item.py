"""A worker on a real node reads an item of 500 KiB, which is no annotation but a ConfigMap."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cluster.outside import HERE, name_server
from cluster.real_node import RealNode
from cluster.system import System
from cluster.workers import shell_image

IMAGE = "registry.example.com/shell:1.0"
WORKFLOW = f"""
workflow large
source texts: http {{ url = "http://texts:7070" }}
worker file {{
  image  = "{IMAGE}"
  run    = "cat \\"$WORK_ITEM_FILE\\" > /out/file"
  mounts = {{ "/out" = pvc("out") }}
}}
worker stdin {{
  image   = "{IMAGE}"
  command = ["sh", "-c", "cat > /out/stdin"]
  input   = stdin
  mounts  = {{ "/out" = pvc("out") }}
}}
queue first  {{ from = texts, worker = file }}
queue second {{ from = first, worker = stdin }}
"""
DATA = {"text": '☃ "quoted"\n' * 35_000}


@contextmanager
def texts() -> Iterator[int]:
    """A plain Source API with one item, and one that is too large for any ConfigMap."""
    items = {"large": DATA, "huge": "x" * 1_000_000}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.removeprefix("/api/v1/items").removeprefix("/")
            body: object = {"kind": "ItemList", "apiVersion": "v1", "items": list(items)}
            if name:
                body = {"kind": "Item", "apiVersion": "v1", "data": items[name]}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, format: str, *arguments: object) -> None: ...

    with ThreadingHTTPServer((HERE, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def test_a_worker_reads_a_large_item(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, IMAGE, tmp_path / "shell")
    out = tmp_path / "out"
    (tmp_path / "large.wq").write_text(WORKFLOW)
    with texts() as port, System(runtime_node, "large", tmp_path, {"out": out}) as system:
        name_server(system, "texts", 7070, port)
        system.apply(tmp_path / "large.wq", "listing=0.5 flush=1 backoff=1")
        system.wait_finished("second", 1)
        text = json.dumps(DATA, ensure_ascii=False, separators=(",", ":"))
        assert len(text.encode()) > 500 * 1024
        for name in ("file", "stdin"):
            assert digest((out / name).read_bytes()) == digest(text.encode())
        maps = [each["metadata"]["ownerReferences"] for each in system.listed("configmaps", "wqc/large")]
        assert sorted(owner["name"] for (owner,) in maps) == sorted(
            job["metadata"]["name"]
            for queue in ("first", "second")
            for job in system.jobs(queue)
            if "wqc/reason" not in job["metadata"]["annotations"]
        )
        (held,) = [job for job in system.jobs("first") if job["spec"].get("suspend")]
        assert (
            held["metadata"]["annotations"]["wqc/reason"] == "its data is 1000002 bytes of JSON; 921600 fit"
        )


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
