"""The objects of a bucket, on a real S3 server."""

import asyncio
import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from support.badserver import always, http, server
from support.ports import free_port
from support.s3 import ACCESS_KEY, S3, SECRET_KEY
from wqc.runtime.sources.object_store import Bucket, ObjectStoreSource
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError


def bucket(store: S3, name: str, **more: Any) -> Bucket:
    store.make(name)
    return replace(
        Bucket(store.endpoint, name, access_key=lambda: ACCESS_KEY, secret_key=lambda: SECRET_KEY), **more
    )


def listing(where: Bucket) -> Listing:
    return asyncio.run(ObjectStoreSource(where).list())


def test_keys_are_names_and_tags_versions(store: S3) -> None:
    where = bucket(store, "films")
    store.put("films", "b.mp4", b"1234")
    store.put("films", "sub/a.mp4", b"5")
    source = ObjectStoreSource(where)
    found = asyncio.run(source.list())
    assert list(found.versions) == ["b.mp4", "sub/a.mp4"]
    assert all(found.versions.values())
    told = json.loads(asyncio.run(source.get("b.mp4")))
    modified = (store.folder / "films" / "b.mp4").stat().st_mtime
    assert abs(datetime.fromisoformat(told.pop("modified")).timestamp() - modified) < 2
    assert told == {"bucket": "films", "key": "b.mp4", "size": 4, "etag": found.versions["b.mp4"]}
    with pytest.raises(NoSuchItem):
        asyncio.run(source.get("c.mp4"))


def test_an_item_asked_for_before_any_listing(store: S3) -> None:
    where = bucket(store, "early")
    store.put("early", "a", b"x")
    assert json.loads(asyncio.run(ObjectStoreSource(where).get("a")))["size"] == 1


def test_prefix_and_match(store: S3) -> None:
    where = bucket(store, "logs")
    for key in ("2024/a.log", "2024/b.txt", "2025/a.log", "2024-a.log", "2024/sub/.c.log"):
        store.put("logs", key)
    assert list(listing(replace(where, prefix="2024/")).versions) == [
        "2024/a.log",
        "2024/b.txt",
        "2024/sub/.c.log",
    ]
    assert list(listing(replace(where, prefix="2024/", match="*.log")).versions) == ["2024/a.log"]
    assert list(listing(replace(where, match="**/*.log", prefix="202")).versions) == [
        "2024-a.log", "2024/a.log", "2024/sub/.c.log", "2025/a.log",
    ]  # fmt: skip


def test_a_changed_object_has_a_new_version(store: S3) -> None:
    where = bucket(store, "changing")
    source = ObjectStoreSource(where)
    store.put("changing", "a", b"one")
    before = asyncio.run(source.list()).versions["a"]
    assert asyncio.run(source.list()).versions["a"] == before
    store.put("changing", "a", b"two!")
    assert asyncio.run(source.list()).versions["a"] != before


@pytest.mark.parametrize(
    "key", ["a b+c%2F&=?#.txt", "☃ 😀 é", "quote'\"`$(x)", "{{ jinja }}", "<xml>&amp;</xml>"]
)
def test_keys_are_as_they_are(store: S3, key: str) -> None:
    where = bucket(store, "odd")
    store.put("odd", key, b"x")
    source = ObjectStoreSource(where)
    assert key in asyncio.run(source.list()).versions
    assert json.loads(asyncio.run(source.get(key)))["key"] == key


def test_an_empty_bucket(store: S3) -> None:
    assert listing(bucket(store, "nothing")) == Listing({})


def problem(where: Bucket) -> str:
    with pytest.raises(SourceError) as caught:
        listing(where)
    return str(caught.value).removeprefix(where.endpoint).removeprefix(f": bucket {where.bucket} ")


def test_what_the_service_refuses(store: S3) -> None:
    where = bucket(store, "films")
    assert "NoSuchBucket" in problem(replace(where, bucket="absent"))
    said = problem(replace(where, secret_key=lambda: "wrong"))
    assert "SignatureDoesNotMatch" in said
    assert SECRET_KEY not in said
    assert "AccessDenied" in problem(replace(where, access_key=None, secret_key=None))


def test_a_service_that_is_none(store: S3) -> None:
    where = bucket(store, "films")
    assert "can't be listed" in problem(replace(where, endpoint=f"http://127.0.0.1:{free_port()}"))
    for reply in (
        http(200, "<html>hello</html>", "text/html"),
        http(200, "{}"),
        http(500, "no"),
        b"",
        b"\x16\x03",
    ):
        with server(always(reply)) as url:
            assert "can't be listed" in problem(replace(where, endpoint=url))


def test_an_endpoint_that_can_not_be_one() -> None:
    with pytest.raises(SourceError, match="can't be an object store's endpoint"):
        ObjectStoreSource(Bucket("https://s3.example.com/folder", "films"))
