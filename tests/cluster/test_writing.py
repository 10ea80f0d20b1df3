"""What a manager writes: nothing without the Lease, and nothing on a state of a Job that it doesn't know."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml

from cluster.client import Client
from cluster.test_watching import add, prepared
from support.localrun import job_template
from support.store_suite import Changes, manifest
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.kubernetes.state import KubernetesStateStore
from wqc.runtime.stores.kubernetes.store import KubernetesStore
from wqc.runtime.stores.kubernetes.transport import Transport
from wqc.runtime.stores.state import Conflict
from wqc.runtime.stores.store import AlreadyExists, Announcement, Refused, Segment, Template


class Noting(Transport):
    def __init__(self, client: Client) -> None:
        super().__init__(client.api)
        self.written: list[tuple[str, str, Any]] = []

    async def ask(
        self, method: str, path: str, query: Any = None, body: Any = None, *more: Any, **named: Any
    ) -> bytes:
        if method != "GET":
            self.written.append((method, path, body))
        return await super().ask(method, path, query, body, *more, **named)


def test_nothing_is_written_without_the_lease(api_server: Client) -> None:
    owner = prepared(api_server, "leaseless", 1)
    transport = Noting(api_server)

    async def scenario() -> None:
        store = KubernetesStore(transport, "leaseless", "demo", lambda: False)
        state = KubernetesStateStore(transport, "leaseless", "demo", lambda: False)
        await store.files("work")
        changes = Changes(store)
        (job,) = await changes.listed()
        body = manifest(yaml.safe_load(job_template("true")), owner, "new")
        writes: list[Callable[[], Awaitable[object]]] = [
            lambda: store.create("work", body),
            lambda: store.finish(job, 60.0),
            lambda: store.supersede(job),
            lambda: store.give_up(job),
            lambda: store.add_segment("work", Segment("demo-work-ledger-x", b"x")),
            lambda: store.remove_segment("work", "demo-work-ledger-x"),
            lambda: store.keep_template("work", Template("abc", "kind: Job")),
            lambda: store.forget_template("work", "abc"),
            lambda: store.announce("work", Announcement("Blocked", "work is", is_warning=True)),
            lambda: state.write({"note": "x"}),
            lambda: state.write({"note": "x"}, ""),
        ]
        for write in writes:
            with pytest.raises(Refused, match="doesn't hold the lease"):
                await write()
        await changes.close()
        await store.close()
        await state.close()

    asyncio.run(scenario())
    assert transport.written == []


def test_every_patch_of_a_job_names_the_state_that_it_is_about(api_server: Client) -> None:
    """One that is about an older state is made anew, on the Job as it is now."""
    owner = prepared(api_server, "versions", 0)
    transport = Noting(api_server)
    names = [add(api_server, "versions", owner, item) for item in ("a", "b", "c")]

    async def scenario() -> None:
        store = KubernetesStore(transport, "versions", "demo", lambda: True)
        await store.files("work")
        changes = Changes(store)
        jobs = {job.job: replace(job, resource_version="1") for job in await changes.listed()}
        steps: tuple[Callable[[Job], Awaitable[None]], ...] = (
            store.supersede,
            store.give_up,
            lambda job: store.finish(job, 60.0),
        )
        for name, step in zip(names, steps, strict=True):
            await step(jobs[name])
        await changes.close()
        await store.close()

    asyncio.run(scenario())
    patches = [(path, body) for method, path, body in transport.written if method == "PATCH"]
    assert [path.rpartition("/")[2] for path, _ in patches] == [name for name in names for _ in "12"]
    versions = [body["metadata"]["resourceVersion"] for _, body in patches]
    assert versions[::2] == ["1"] * 3
    for name, version in zip(names, versions[1::2], strict=True):
        found = api_server.request("GET", f"/apis/batch/v1/namespaces/versions/jobs/{name}").body["metadata"]
        assert 1 < int(version) < int(found["resourceVersion"])


def test_every_patch_of_the_state_names_the_version_that_it_is_based_on(api_server: Client) -> None:
    """What somebody else writes meanwhile stays, in the very entry that is to be written too."""
    prepared(api_server, "states", 0)
    transport = Noting(api_server)
    path = "/api/v1/namespaces/states/configmaps/demo-state"

    async def scenario() -> None:
        mine = KubernetesStateStore(transport, "states", "demo")
        other = KubernetesStateStore(transport, "states", "demo")
        await mine.write({"rollout.work": "1", "report": "a"})
        await other.write({"paused.work": ""})
        await mine.write({"rollout.work": "2"})
        before = await other.read()
        await other.write({"rollout.work": "4"})
        with pytest.raises(Conflict, match=r"has changed rollout\.work of demo-state"):
            await mine.write({"rollout.work": "5", "report": "c"})
        assert (await other.read()).entries == {**before.entries, "rollout.work": "4"}
        assert (await mine.write({"rollout.work": "5"})).entries["rollout.work"] == "5"  # it has seen that

        assert api_server.request("DELETE", path).status == 200
        with pytest.raises(Conflict):
            await mine.write({"rollout.work": "6"})
        assert (await mine.write({"report": "d"})).entries == {"report": "d"}
        await mine.close()
        await other.close()

    asyncio.run(scenario())
    patches = [body for method, _, body in transport.written if method == "PATCH"]
    assert patches
    assert all(body["metadata"]["resourceVersion"] for body in patches)


def test_a_job_on_its_way_out_is_told_from_one_that_stays(api_server: Client) -> None:
    owner = prepared(api_server, "leaving", 0)
    (name,) = [add(api_server, "leaving", owner, "a")]
    path = f"/apis/batch/v1/namespaces/leaving/jobs/{name}"

    async def scenario() -> tuple[Job | None, Job | None]:
        store = KubernetesStore(Transport(api_server.api), "leaving", "demo", lambda: True)
        await store.files("work")
        before = await store.get("work", name)
        api_server.request("PATCH", path, {"metadata": {"finalizers": ["test/stays"]}})
        assert api_server.request("DELETE", path).status == 200
        with pytest.raises(AlreadyExists):
            await store.create("work", manifest(yaml.safe_load(job_template("true")), owner, "a"))
        after = await store.get("work", name)
        await store.close()
        return before, after

    before, after = asyncio.run(scenario())
    assert before
    assert after
    assert (before.deleting, after.deleting) == (False, True)


def test_a_large_item_takes_one_more_write_and_its_job_comes_first(api_server: Client) -> None:
    owner = prepared(api_server, "large-writes", 0)
    transport = Noting(api_server)
    template = yaml.safe_load(job_template("true"))
    large = json.dumps("x" * 100_000)

    async def scenario() -> None:
        store = KubernetesStore(transport, "large-writes", "demo", lambda: True)
        await store.files("work")
        await store.create("work", manifest(template, owner, "small", "1"), "1")
        await store.create("work", manifest(template, owner, "large", large), large)
        await store.close()

    asyncio.run(scenario())
    kinds = [(method, path.rpartition("/")[2]) for method, path, _ in transport.written]
    assert kinds == [("POST", "jobs"), ("POST", "jobs"), ("POST", "configmaps")]
    small, job, kept = (body for _, _, body in transport.written)
    assert "wqc/large" not in small["metadata"]["annotations"]
    assert kept["metadata"]["name"] == job["metadata"]["name"]
    assert [each["kind"] for each in kept["metadata"]["ownerReferences"]] == ["Job"]
    assert kept["immutable"] is True
