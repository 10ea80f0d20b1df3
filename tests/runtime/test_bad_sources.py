"""A manager whose source misbehaves for a while: it says so, others go on, nothing is lost or repeated."""

import asyncio
import json
import socket
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest

from support.badserver import http, server
from support.localrun import QUICK, queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.http import HttpSource

NAMES = ["a", "b/c", "d ☃"]
LIST = json.dumps({"kind": "ItemList", "apiVersion": "v1", "items": NAMES})


class Service:
    """Answers well or, as long as `bad` is set, in the way that a test is about."""

    def __init__(self, ill: str) -> None:
        self.ill = ill
        self.bad = threading.Event()

    def __call__(self, request: str, connection: socket.socket) -> None:
        path = request.split()[1]
        if self.bad.is_set() and (reply := self._ill_reply(path)) is not None:
            connection.sendall(reply)
        elif path == "/api/v1/items":
            connection.sendall(http(200, LIST))
        else:
            name = unquote(path.removeprefix("/api/v1/items/"))
            connection.sendall(http(200, json.dumps({"kind": "Item", "apiVersion": "v1", "data": name})))

    def _ill_reply(self, path: str) -> bytes | None:
        listing = path == "/api/v1/items"
        match self.ill:
            case "html":
                return http(200, "<html>sign in</html>", "text/html")
            case "500":
                return http(500, '{"reason": "the table is locked"}')
            case "hang":
                time.sleep(60)
                return b""
            case "item 404":
                return None if listing else http(404, "{}")
            case "item 500":
                return None if listing else http(500, "{}")
            case "item html":
                return None if listing else http(200, "<html>", "text/html")
            case "empty":
                return b""
        raise ValueError(self.ill)


ILLS = {
    "html": "doesn't answer with JSON, but with '<html>sign in</html>'",
    "500": "answers 500: the table is locked",
    "hang": "gave no complete answer within 2 s",
    "empty": "it closed the connection without a word",
    "item 404": "answers 404: it isn't there",
    "item 500": "answers 500",
    "item html": "doesn't answer with JSON",
}


@pytest.mark.parametrize("ill", ILLS)
def test_a_source_that_misbehaves_for_a_while(ill: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    note = f'cat "$WORK_ITEM_FILE" > "$(mktemp {out}/XXXXXX)"'
    workflow = Workflow("bad")
    workflow.queue("far", workflow.source("service"))
    workflow.queue("near", workflow.source("names"))
    files = {"far": queue_files("far", note), "near": queue_files("near", note)}
    service = Service(ill)
    service.bad.set()

    said: set[str] = set()

    def watch(status: Status) -> None:
        said.update(source.problem for source in status.sources if source.source == "service")
        if not status.queues:
            return  # it has just begun
        far, near = status.queues
        said.add(far.blocked)
        if service.bad.is_set() and ILLS[ill] in " ".join(said) and near.done == 2:
            assert far.done == 0
            service.bad.clear()

    with server(service) as url:
        sources = {"service": HttpSource(url, QUICK.request), "names": ["x", "y"]}
        status = asyncio.run(until_idle(workflow, tmp_path / "s", files, sources, watch=watch))
    assert not service.bad.is_set(), said
    assert not any(source.problem for source in status.sources)
    assert Counter(json.loads(path.read_text()) for path in out.iterdir()) == Counter([*NAMES, "x", "y"])
