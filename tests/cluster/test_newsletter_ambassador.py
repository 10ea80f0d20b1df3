"""examples/newsletter_ambassador on a real node: the runtime image filters a plain Source API."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from cluster.outside import HERE, name_server
from cluster.real_node import RealNode
from cluster.system import System
from cluster.workers import shell_image
from support.receiver import receiver

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "newsletter_ambassador.wq"
SIGN_UPS = {
    "ann": {"email": "ann@example.com", "opted_in": True},
    "bob": {"email": "bob@example.com", "opted_in": False},
    "cy/d é": {"email": "cy@example.com", "opted_in": True},
    "dora": {"email": "dora@example.com"},
}


@contextmanager
def sign_ups() -> Iterator[int]:
    """The book's two addresses, and nothing beyond them."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = unquote(self.path.removeprefix("/api/v1/items").removeprefix("/"))
            body: object = {"kind": "ItemList", "apiVersion": "v1", "items": list(SIGN_UPS)}
            if name:
                body = {"kind": "Item", "apiVersion": "v1", "data": SIGN_UPS[name]}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, format: str, *arguments: object) -> None: ...

    with ThreadingHTTPServer((HERE, 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_exactly_those_who_opted_in_are_subscribed(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, "docker.io/curlimages/curl:8.11.1", tmp_path / "curl", "curl")
    with (
        sign_ups() as source,
        receiver(HERE) as lists,
        System(runtime_node, "newsletter_ambassador", tmp_path, {}) as system,
    ):
        name_server(system, "signups", 8080, source)
        name_server(system, "lists", 8080, lists.port)
        image = ("--param", "runtime=wqc-runtime:0.1.0")
        system.apply(EXAMPLE, "listing=0.5 flush=1 backoff=1", *image)
        willing = {name: data for name, data in SIGN_UPS.items() if data.get("opted_in")}
        system.wait_finished("subscribed", len(willing))
        assert {each.path for each in lists.posted} == {"/newsletter/subscribers"}
        posted = sorted(json.loads(each.body)["email"] for each in lists.posted)
        assert posted == sorted(data["email"] for data in willing.values())
        assert system.attempts("subscribed") == dict.fromkeys(willing, 1)
