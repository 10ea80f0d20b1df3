"""How the Jobs and the state of a workflow are followed: pages, labels, bookmarks, what a watch leaves
out, and connections that die in silence.
"""

import asyncio
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml
from kubernetes import config

from cluster.calls import Call, Meddler, Proxy
from cluster.client import Client
from support.localrun import job_template, queue_files
from support.store_suite import Changes, manifest
from wqc.runtime.stores.kubernetes import watching
from wqc.runtime.stores.kubernetes.state import KubernetesStateStore
from wqc.runtime.stores.kubernetes.store import KubernetesStore
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport
from wqc.runtime.stores.store import Changed, Listed, Unsure

AUDIT = 3.0
Asked = tuple[str, dict[str, str]]
"""The last part of the path, and the query."""


class Noting(Transport):
    def __init__(self, client: Client) -> None:
        super().__init__(client.api)
        self.listed: list[Asked] = []
        self.watched: list[Asked] = []
        self.busy: float | None = None
        """What the next listing of Jobs is refused with, as its Retry-After."""

    async def ask(
        self, method: str, path: str, query: Mapping[str, str] | None = None, *more: Any, **named: Any
    ) -> bytes:
        if method == "GET" and query:
            kind = path.rpartition("/")[2]
            self.listed.append((kind, dict(query)))
            if kind == "jobs" and self.busy:
                busy, self.busy = self.busy, None
                raise ApiError(429, "too many requests", busy)
        return await super().ask(method, path, query, *more, **named)

    def stream(self, path: str, query: Mapping[str, str], silence: float) -> urllib3.BaseHTTPResponse:
        self.watched.append((path.rpartition("/")[2], dict(query)))
        return super().stream(path, query, silence)


def prepared(client: Client, namespace: str, jobs: int) -> dict[str, Any]:
    """The owner of so many Jobs of a queue."""
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    files = queue_files("work", "true")
    data = {"settings.yaml": files.settings, "job.yaml": files.job}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "demo-work"}, "data": data}
    uid = client.create(made, namespace).body["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "demo-work", "uid": uid, "controller": True}
    for number in range(jobs):
        add(client, namespace, owner, f"item {number}")
    return owner


def add(client: Client, namespace: str, owner: dict[str, Any], item: str) -> str:
    body = manifest(yaml.safe_load(job_template("true")), owner, item)
    assert client.create(body, namespace).status == 201
    return str(body["metadata"]["name"])


def test_listings_are_of_pages_and_both_are_of_the_workflow_s_own(
    api_server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "PAGE", 3)
    owner = prepared(api_server, "pages", 7)
    transport = Noting(api_server)

    async def scenario() -> None:
        store = KubernetesStore(transport, "pages", "demo", lambda: True)
        await store.files("work")
        changes = Changes(store)
        assert sorted(job.name for job in await changes.listed()) == [f"item {n}" for n in range(7)]
        added = add(api_server, "pages", owner, "later")
        await changes.until(lambda each: isinstance(each, Changed) and each.job.job == added)
        await changes.close()
        await store.close()

    asyncio.run(scenario())
    of_jobs = [query for kind, query in transport.listed if kind == "jobs"]
    assert [query["limit"] for query in of_jobs] == ["3", "3", "3"]
    assert len({query.get("continue") for query in of_jobs}) == 3
    assert {kind for kind, _ in transport.watched} == {"jobs", "pods"}
    for _, query in (*transport.listed, *transport.watched):
        assert query["labelSelector"].startswith("wqc/workflow=demo")
    for _, query in transport.watched:
        assert (query["watch"], query["allowWatchBookmarks"]) == ("true", "true")
        assert query["resourceVersion"]


class Silent(Meddler):
    """Says nothing more on the first watch of Jobs, and leaves the connection open."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def watched(self, call: Call, lines: Iterator[bytes]) -> Iterator[bytes]:
        if call == Call("watch jobs", 1):
            self.over.wait(60)
            return
        yield from lines


@contextmanager
def meddled(client: Client, meddler: Meddler, folder: Path) -> Iterator[Transport]:
    """To the server through a proxy with somebody in it."""
    proxy = Proxy(client, meddler)
    kubeconfig = yaml.safe_load(client.kubeconfig.read_text())
    kubeconfig["clusters"][0]["cluster"] = {"server": proxy.url}
    (folder / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
    try:
        yield Transport(config.new_client_from_config(str(folder / "kubeconfig")))
    finally:
        proxy.close()


def test_a_connection_that_died_in_silence_is_found_out(
    api_server: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(watching, "SILENCE", 1.5)
    owner = prepared(api_server, "silence", 1)
    silent = Silent()

    async def scenario(transport: Transport) -> None:
        store = KubernetesStore(transport, "silence", "demo", lambda: True)
        await store.files("work")
        changes = Changes(store)
        await changes.listed()
        added = add(api_server, "silence", owner, "unheard of")
        await changes.until(lambda each: isinstance(each, Unsure))
        await changes.until(lambda each: isinstance(each, Listed) and added in {job.job for job in each.jobs})
        await changes.close()
        await store.close()

    with meddled(api_server, silent, tmp_path) as transport:
        try:
            asyncio.run(scenario(transport))
        finally:
            silent.over.set()


class Reticent(Meddler):
    """Leaves out of the watches of one kind what has this text in it."""

    def __init__(self, kind: str, text: str) -> None:
        self._kind = kind
        self._text = text.encode()
        self.left_out = 0

    def watched(self, call: Call, lines: Iterator[bytes]) -> Iterator[bytes]:
        for line in lines:
            if call.kind == self._kind and self._text in line:
                self.left_out += 1
            else:
                yield line


def test_a_job_that_a_watch_left_out_is_found_by_the_audit(api_server: Client, tmp_path: Path) -> None:
    owner = prepared(api_server, "audit", 1)
    reticent = Reticent("watch jobs", "left out")

    async def scenario(transport: Transport) -> None:
        store = KubernetesStore(transport, "audit", "demo", lambda: True, audit=AUDIT)
        await store.files("work")
        changes = Changes(store)
        await changes.listed()
        added = add(api_server, "audit", owner, "left out")
        await changes.until(lambda each: isinstance(each, Listed) and added in {job.job for job in each.jobs})
        assert {type(each) for each in changes.seen} == {Listed}
        assert reticent.left_out == 1
        await changes.close()
        await store.close()

    with meddled(api_server, reticent, tmp_path) as transport:
        asyncio.run(scenario(transport))


def test_a_pause_that_a_watch_left_out_is_found_by_the_audit(api_server: Client, tmp_path: Path) -> None:
    prepared(api_server, "pause", 0)
    pause = {"paused.work": "true"}
    reticent = Reticent("watch configmaps", "paused.work")

    async def scenario(transport: Transport) -> None:
        state = KubernetesStateStore(transport, "pause", "demo", audit=AUDIT)
        changes = state.changes()
        async with asyncio.timeout(60):
            assert (await anext(changes)).entries == {}
            await state.write(pause)
            while (await anext(changes)).entries != pause:
                pass
        assert reticent.left_out == 1
        await state.close()

    with meddled(api_server, reticent, tmp_path) as transport:
        asyncio.run(scenario(transport))


class Forgetful(Meddler):
    """Doesn't know any more, on the first watch of Jobs, what happened since the listing."""

    def watched(self, call: Call, lines: Iterator[bytes]) -> Iterator[bytes]:
        if call == Call("watch jobs", 1):
            gone = {"kind": "Status", "apiVersion": "v1", "code": 410, "message": "too old resource version"}
            yield json.dumps({"type": "ERROR", "object": gone}).encode() + b"\n"
            return
        yield from lines


def test_where_the_server_lost_our_place_it_is_asked_for_all_again(
    api_server: Client, tmp_path: Path
) -> None:
    """At once, and without a doubt: the listing says all."""
    owner = prepared(api_server, "forgetful", 1)

    async def scenario(transport: Transport) -> None:
        store = KubernetesStore(transport, "forgetful", "demo", lambda: True)
        await store.files("work")
        changes = Changes(store)
        await changes.until(lambda _: len(changes.seen) == 2)
        assert [type(each) for each in changes.seen] == [Listed, Listed]
        added = add(api_server, "forgetful", owner, "later")
        await changes.until(lambda each: isinstance(each, Changed) and each.job.job == added)
        await changes.close()
        await store.close()

    with meddled(api_server, Forgetful(), tmp_path) as transport:
        asyncio.run(scenario(transport))


def test_a_server_that_never_knows_our_place_is_asked_once_a_second(api_server: Client) -> None:
    prepared(api_server, "lost-places", 1)

    class Lost(Noting):
        def stream(self, path: str, query: Mapping[str, str], silence: float) -> urllib3.BaseHTTPResponse:
            raise ApiError(410, "too old resource version")

    transport = Lost(api_server)

    async def scenario() -> None:
        store = KubernetesStore(transport, "lost-places", "demo", lambda: True)
        await store.files("work")
        changes = Changes(store)
        await asyncio.sleep(3.5)
        await changes.close()
        await store.close()

    asyncio.run(scenario())
    assert 2 <= len([kind for kind, _ in transport.listed if kind == "pods"]) <= 4


def test_a_busy_server_is_asked_for_a_listing_when_it_says(api_server: Client) -> None:
    prepared(api_server, "patience", 1)
    transport = Noting(api_server)
    transport.busy = 3.0

    async def scenario() -> None:
        store = KubernetesStore(transport, "patience", "demo", lambda: True)
        await store.files("work")
        began = time.monotonic()
        changes = Changes(store)
        await changes.until(lambda each: isinstance(each, Unsure))
        assert len(await changes.listed()) == 1
        assert time.monotonic() - began > 2.9
        await changes.close()
        await store.close()

    asyncio.run(scenario())


class Broken(Transport):
    def stream(self, path: str, query: Mapping[str, str], silence: float) -> urllib3.BaseHTTPResponse:
        raise RuntimeError("can't start new thread")


def test_who_hears_of_changes_hears_that_nothing_follows_them_any_more(api_server: Client) -> None:
    """Whether of Jobs or of the state."""

    async def hear(place: KubernetesStore | KubernetesStateStore) -> None:
        changes = place.changes()
        try:
            with pytest.raises(RuntimeError, match="new thread"):
                await asyncio.wait_for(anext(changes), 10)
        finally:
            await place.close()

    transport = Broken(api_server.api)
    asyncio.run(hear(KubernetesStore(transport, "broken", "demo", lambda: True)))
    asyncio.run(hear(KubernetesStateStore(transport, "broken", "demo")))
