"""The Source API as a running ambassador serves it."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from support.ambassador import PROGRAM, Ambassador, ambassador, source_settings
from support.badserver import server

HOSTILE = {
    "new\nline": "a\r\nb",
    "..": 1,
    ".": None,
    "a/b/../c": [1, {"x": "☃"}],
    "done": True,
    "x/done": "y",
    "continue=1&limit=2?#": {},
    "percent %2F %": "p",
    "☃ 😀 é": "e",
    "NUL\0": "\0",
    "{{ jinja }} ${var} $(id) `id` '\"": "q",
    "- yaml: [": "z",
    "long": "x" * (1 << 20),
    "n" * 3000: "name",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ambassador]:
    folder = tmp_path_factory.mktemp("settings")
    source_settings(folder, "odd", "items", items=HOSTILE)
    with ambassador(["source", "odd"], folder) as running:
        yield running


def encoded(name: str) -> str:
    return urllib.parse.quote(name, safe="").replace(".", "%2E")


def test_the_two_addresses_of_the_book(served: Ambassador) -> None:
    listed = served.ask("/api/v1/items")
    assert listed.status == 200
    assert listed.headers["Content-Type"] == "application/json"
    assert listed.body == {"kind": "ItemList", "apiVersion": "v1", "items": list(HOSTILE)}
    item = served.ask("/api/v1/items/" + encoded("☃ 😀 é"))
    assert item.status == 200
    assert item.body == {"kind": "Item", "apiVersion": "v1", "data": "e"}
    assert served.ask("/api/v1/items/").body == listed.body
    assert served.ask("/odd/api/v1/items").body == listed.body


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_items(served: Ambassador, name: str) -> None:
    reply = served.ask("/api/v1/items/" + encoded(name))
    assert (reply.status, reply.body["data"]) == (200, HOSTILE[name])


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("/api/v1/items/absent", 404, "there is no item absent"),
        ("/api/v1/items/%ff", 404, "%ff is no percent-encoded UTF-8"),
        ("/api/v1/items/a/b", 404, "a name's `/` has to be percent-encoded"),
        ("/api/v1/itemsx", 404, "nothing is served here; there is /odd/api/v1/items, /api/v1/items"),
        ("/", 404, "nothing is served here; there is /odd/api/v1/items, /api/v1/items"),
        ("/other/api/v1/items", 404, "nothing is served here; there is /odd/api/v1/items, /api/v1/items"),
        ("/api/v1/items?limit=0", 400, "limit=0 is no number of items"),
        ("/api/v1/items?limit=x", 400, "limit=x is no number of items"),
        ("/api/v1/items?continue=x.1", 410, "the listing has changed since its first page: begin anew"),
        ("/api/v1/items/done/done", 405, "only POST makes sense here"),
        ("/api/v1/items/" + "n" * 70_000, 414, "Request-URI Too Long"),
    ],
)
def test_errors_say_why(served: Ambassador, path: str, status: int, reason: str) -> None:
    reply = served.ask(path)
    assert (reply.status, reply.body) == (status, {"kind": "Error", "apiVersion": "v1", "reason": reason})


def test_other_methods_are_refused(served: Ambassador) -> None:
    assert served.ask("/api/v1/items", "POST").status == 405
    assert served.ask("/api/v1/items/done", "DELETE").status == 501
    told = served.ask("/api/v1/items/done/done", "POST")
    assert (told.status, told.body["reason"]) == (405, "this source needs no word when an item is done")


def test_pages(served: Ambassador) -> None:
    whole = list(HOSTILE)
    for ask in ({"query": "limit=4"}, {"Prefer": "respond-async, maxpagesize=4"}):
        query = ask.pop("query", "")
        reply = served.ask(f"/api/v1/items?{query}", **ask)
        found = list(reply.body["items"])
        while "continue" in reply.body:
            assert len(reply.body["items"]) == 4
            token = urllib.parse.quote(reply.body["continue"])
            reply = served.ask(f"/api/v1/items?continue={token}&{query}", **ask)
            found += reply.body["items"]
        assert found == whole


def test_an_unchanged_listing_is_not_sent_again(served: Ambassador) -> None:
    first = served.ask("/api/v1/items")
    again = served.ask("/api/v1/items", If_None_Match=first.headers["ETag"])
    assert (again.status, again.body, again.headers["ETag"]) == (304, None, first.headers["ETag"])
    assert served.ask("/api/v1/items", If_None_Match='"other"').status == 200


def test_a_client_of_http_1_0(served: Ambassador) -> None:
    port = urllib.parse.urlsplit(served.url).port
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET /api/v1/items HTTP/1.0\r\n\r\n")
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert json.loads(received.partition(b"\r\n\r\n")[2])["items"] == list(HOSTILE)


def test_it_listens_on_loopback_alone(served: Ambassador) -> None:
    port = urllib.parse.urlsplit(served.url).port
    lines = [
        line.split()[1:4:2]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for line in Path(table).read_text().splitlines()[1:]
    ]
    listening = [address for address, state in lines if state == "0A" and address.endswith(f":{port:04X}")]
    assert listening == [f"0100007F:{port:04X}"]


def test_versions_travel_beside_the_names(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a").write_text("1234")
    source_settings(tmp_path, "films", "files", path=str(tmp_path / "media"), quiet=0)
    with ambassador(["source", "films"], tmp_path) as served:
        stamp = (tmp_path / "media" / "a").stat().st_mtime_ns
        first = served.ask("/api/v1/items")
        assert first.body["versions"] == {"a": f"4-{stamp}"}
        (tmp_path / "media" / "b").write_text("")
        changed = served.ask("/api/v1/items", If_None_Match=first.headers["ETag"])
        assert (changed.status, changed.body["items"]) == (200, ["a", "b"])


def test_it_listens_while_what_is_behind_it_is_down(tmp_path: Path) -> None:
    source_settings(tmp_path, "films", "files", path=str(tmp_path / "media"), quiet=0)
    with ambassador(["source", "films"], tmp_path) as served:
        reply = served.ask("/films/api/v1/items")
        assert reply.status == 503
        assert reply.body["reason"] == f"{tmp_path}/media can't be listed: No such file or directory"
        (tmp_path / "media").mkdir()
        assert served.items() == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "can't be read: No such file or directory"),
        ("source: [", "films/source.yaml: "),
        (
            "source: films\nkind: carrier_pigeon\n",
            "films: a source of kind carrier_pigeon can't be read here",
        ),
        ("source: films\nkind: files\n", "films: `path` isn't a text"),
        (
            "source: films\nkind: http\noptions: {url: 'http://x', auth: {file: /nowhere/token}}\n",
            "films: /nowhere/token can't be read: No such file or directory",
        ),
    ],
)
def test_settings_that_can_not_be_are_said_where_people_look(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    (tmp_path / "films").mkdir()
    if text is not None:
        (tmp_path / "films" / "source.yaml").write_text(text)
    source_settings(tmp_path, "well", "items", items=["a"])
    with ambassador(["source", "films", "well"], tmp_path) as served:
        reply = served.ask("/films/api/v1/items")
        assert reply.status == 503
        assert reason in reply.body["reason"]
        assert served.items("/well") == ["a"]


def test_several_sources_and_the_members_of_a_bundle(tmp_path: Path) -> None:
    source_settings(tmp_path, "one", "items", items=["a"])
    (tmp_path / "many").mkdir()
    members = {"x": {"items": ["b"]}, "y": {"items": {"c": 1}}}
    (tmp_path / "many" / "source.yaml").write_text(
        yaml.safe_dump({"source": "many", "kind": "items", "members": members})
    )
    with ambassador(["source", "one", "many"], tmp_path) as served:
        assert [served.items(path) for path in ("/one", "/many/x", "/many/y")] == [["a"], ["b"], ["c"]]
        assert served.ask("/many/y/api/v1/items/c").body["data"] == 1
        assert served.ask("/api/v1/items").status == 404
        assert served.ask("/many/api/v1/items").status == 404


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_at_once_when_told(tmp_path: Path, number: signal.Signals) -> None:
    source_settings(tmp_path, "one", "items", items=["a"])
    with ambassador(["source", "one"], tmp_path) as served:
        port = urllib.parse.urlsplit(served.url).port
        with socket.create_connection(("127.0.0.1", port)) as idle:
            idle.sendall(b"GET /api/v1/items HTTP/1.1\r\nHost: x\r\n\r\n")
            idle.recv(1)
            served.process.send_signal(number)
            assert served.process.wait(timeout=10) == 0


def test_it_ends_at_once_while_what_is_behind_it_hangs(tmp_path: Path) -> None:
    def hang(request: str, connection: socket.socket) -> None:
        time.sleep(60)

    with server(hang) as url:
        source_settings(tmp_path, "far", "object_store", endpoint=url, bucket="far")
        with ambassador(["source", "far"], tmp_path, WQC_PERIODS="request=0.5") as served:
            reply = served.ask("/api/v1/items")
            assert (reply.status, reply.body["reason"][:32]) == (503, "the listing isn't complete yet, ")
            served.process.terminate()
            assert served.process.wait(timeout=10) == 0


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    source_settings(tmp_path, "one", "items", items=["a"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environment = os.environ | {"WQC_SETTINGS": str(tmp_path)}
        command = [*PROGRAM, "source", f"--port={port}", "one"]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    said = json.loads(ended.stderr)
    assert (said["level"], said["text"]) == ("error", "it can't start")
    assert "Address already in use" in said["reason"]
