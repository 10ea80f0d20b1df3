"""The pattern nodes as programs of their own, in front of any Source API."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.ambassador import PROGRAM, Ambassador, ambassador, source_settings
from support.badserver import http, server
from support.ports import free_port

USERS = {
    "ann": {"id": 1, "email": True, "sms": False},
    "bob": {"id": 2, "email": True, "sms": True},
    "cat": {"id": 3, "email": False, "sms": False},
    "d/é": {"id": 4, "email": False, "sms": True},
    "odd": {"id": 5},
}


@contextmanager
def in_front(folder: Path, *arguments: str, items: Any = None) -> Iterator[Ambassador]:
    source_settings(folder, "users", "items", items=USERS if items is None else items)
    with ambassador(["source", "users"], folder) as behind:
        placed = [argument.replace("URL", behind.url) for argument in arguments]
        with ambassador(placed) as served:
            yield served


def test_filter(tmp_path: Path) -> None:
    with in_front(tmp_path, "filter", "--from", "URL", "--where", "item.data.email") as served:
        assert served.items() == ["ann", "bob"]
        assert served.ask("/api/v1/items/ann").body["data"] == USERS["ann"]
        assert served.ask("/api/v1/items/cat").status == 404
        assert served.items("/failed") == ["odd"]
        told = served.ask("/failed/api/v1/items/odd").body["data"]
        assert told["item"] == {"name": "odd", "version": "", "data": {"id": 5}}
        assert "email" in told["reason"]
        assert served.ask("/failed/api/v1/items/ann").status == 404


def test_splitter(tmp_path: Path) -> None:
    cases = ["--case", "mail=has(item.data.email) && item.data.email", "--case", "text=item.data.sms"]
    with in_front(tmp_path, "splitter", "--from", "URL", *cases) as served:
        assert served.items("/mail") == ["ann", "bob"]
        assert served.items("/text") == ["bob", "d/é"]
        assert served.items("/otherwise") == ["cat"]
        assert served.items("/failed") == ["odd"]
        assert served.ask("/api/v1/items").status == 404
    with in_front(tmp_path, "splitter", "--from", "URL", *cases, "--otherwise", "drop") as served:
        assert served.ask("/otherwise/api/v1/items").status == 404


def test_sharder(tmp_path: Path) -> None:
    names = [f"item-{number}" for number in range(200)]
    shards = ["--shard", "a", "--shard", "b", "--shard", "c"]
    with in_front(tmp_path, "sharder", "--from", "URL", "--key", "item.name", *shards, items=names) as served:
        parts = [served.items(f"/{shard}") for shard in "abc"]
        assert sorted(name for part in parts for name in part) == sorted(names)
        assert all(len(part) > 40 for part in parts)


def test_copier(tmp_path: Path) -> None:
    with in_front(tmp_path, "copier", "--from", "URL", "--to", "one", "--to", "two") as served:
        assert served.items("/one") == served.items("/two") == list(USERS)
        assert served.ask("/two/api/v1/items/d%2F%C3%A9").body["data"] == USERS["d/é"]


def test_merger(tmp_path: Path) -> None:
    source_settings(tmp_path, "left", "items", items={"a": 1, "b": 2, "c": 3})
    source_settings(tmp_path, "right", "items", items={"a": 4, "x:y": 5})
    with ambassador(["source", "left", "right"], tmp_path) as behind:
        inputs = ["--from", f"l={behind.url}/left", "--from", f"r={behind.url}/right"]
        with ambassador(["merger", *inputs]) as served:
            assert served.items() == ["l:a", "r:a", "l:b", "r:x:y", "l:c"]
            assert served.ask("/api/v1/items/r:x:y").body["data"] == 5
            assert served.ask("/api/v1/items/l%3Aa").body["data"] == 1
            for name in ("a", "z:a", "l:x:y"):
                assert served.ask(f"/api/v1/items/{name}").status == 404
        with ambassador(["merger", *inputs, "--from", f"gone=http://127.0.0.1:{free_port()}"]) as served:
            assert served.ask("/api/v1/items").status == 503


def test_one_in_front_of_the_other(tmp_path: Path) -> None:
    with (
        in_front(tmp_path, "filter", "--from", "URL", "--where", "has(item.data.sms)") as first,
        ambassador(["filter", "--from", first.url, "--where", "item.data.sms"]) as second,
    ):
        assert second.items() == ["bob", "d/é"]


def test_changes_behind_it_are_seen(tmp_path: Path) -> None:
    media = tmp_path / "media"
    media.mkdir()
    (media / "a").write_text("1")
    source_settings(tmp_path, "films", "files", path=str(media), quiet=0)
    with (
        ambassador(["source", "films"], tmp_path) as behind,
        ambassador(["filter", "--from", behind.url, "--where", "item.data.size > 0"]) as served,
    ):
        assert served.items() == ["a"]
        (media / "b").write_text("")
        (media / "c").write_text("1")
        assert served.items() == ["a", "c"]
        (media / "b").write_text("now it has something")
        (media / "a").unlink()
        assert served.items() == ["b", "c"]


def test_what_is_behind_it_is_down() -> None:
    port = free_port()
    with ambassador(["filter", "--from", f"http://127.0.0.1:{port}", "--where", "true"]) as served:
        reply = served.ask("/api/v1/items")
        assert reply.status == 503
        expected = f"http://127.0.0.1:{port}/api/v1/items can't be reached: Connection refused"
        assert reply.body["reason"] == expected


def test_a_token_for_what_is_behind_it(tmp_path: Path) -> None:
    seen: list[str] = []

    def answer(request: str, connection: Any) -> None:
        connection.sendall(http(200, json.dumps({"kind": "ItemList", "items": []})))

    with (
        server(answer, heads=seen) as url,
        ambassador(["copier", "--from", url, "--to", "a"], WQC_AUTH="t0ken") as served,
    ):
        assert served.items("/a") == []
    assert "Authorization: Bearer t0ken" in seen[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["filter", "--from", "http://x", "--where", "item.nothing"],
            "argument --where: `item.nothing`: undeclared",
        ),
        (["filter", "--where", "true"], "the following arguments are required: --from"),
        (
            ["filter", "--from", "signups:8080", "--where", "true"],
            "signups:8080 is no http:// or https:// address",
        ),
        (["splitter", "--from", "http://x", "--case", "true"], "true isn't of the form NAME=VALUE"),
        (["merger", "--from", "http://x"], "http://x isn't of the form NAME=VALUE"),
        (["sort"], "invalid choice: 'sort'"),
    ],
)
def test_arguments_that_can_not_be(arguments: list[str], said: str) -> None:
    ended = subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
