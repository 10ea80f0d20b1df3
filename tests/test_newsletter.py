"""newsletter_ambassador.wq's filter, as its container runs it, in front of a real Source API."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote
from urllib.request import urlopen

import pytest

from wqc.cli.imports import Imports
from wqc.diagnostics.source import Source
from wqc.pipeline import Options, check

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "newsletter_ambassador.wq"
SIGN_UPS = {
    "ann": {"email": "ann@example.com", "opted_in": True},
    "bob": {"email": "bob@example.com", "opted_in": False},
    "cy/d é": {"email": "cy@example.com", "opted_in": True},
    "dora": {"email": "dora@example.com"},
}


class SignUps(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = unquote(self.path.removeprefix("/api/v1/items").removeprefix("/"))
        if not name:
            body: object = {"kind": "ItemList", "apiVersion": "v1", "items": list(SIGN_UPS)}
        else:
            body = {"kind": "Item", "apiVersion": "v1", "data": SIGN_UPS[name]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *arguments: object) -> None: ...


@pytest.fixture
def sign_ups() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), SignUps) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def willing(sign_ups: str) -> Iterator[str]:
    """The address of the filter, started with the example's own arguments but for where the sign-ups are."""
    checked = check(Source("newsletter_ambassador.wq", EXAMPLE.read_text()), Options(read=Imports()))
    assert checked.workflow is not None
    program, *arguments = checked.workflow.nodes["willing"].options["command"]
    assert program == "wqc-runtime"
    arguments[arguments.index("--from") + 1] = sign_ups
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "wqc.runtime.program", *arguments, f"--port={port}"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def get(address: str) -> dict[str, object]:
    """Its answer, as soon as there is one."""
    for _ in range(200):
        try:
            with urlopen(address, timeout=10) as answer:
                read: dict[str, object] = json.load(answer)
                return read
        except HTTPError:
            raise
        except URLError:
            time.sleep(0.05)
    raise TimeoutError(address)


def test_lists_exactly_those_who_opted_in(willing: str) -> None:
    assert get(f"{willing}/api/v1/items")["items"] == ["ann", "cy/d é"]


def test_gives_their_data(willing: str) -> None:
    get(f"{willing}/api/v1/items")
    answer = get(f"{willing}/api/v1/items/cy%2Fd%20%C3%A9")
    assert answer["data"] == SIGN_UPS["cy/d é"]
