"""The Kubernetes store passes the suite of all stores, on simulated nodes; foreign Jobs are left alone."""

import asyncio
import json
import time
from typing import Any

import pytest
import yaml

from cluster.client import Client
from support.localrun import job_template, queue_files
from support.store_suite import StoreSuite, manifest, opened
from wqc.runtime.stores.kubernetes.state import KubernetesStateStore
from wqc.runtime.stores.kubernetes.store import KubernetesStore
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport
from wqc.runtime.stores.state import StateStore
from wqc.runtime.stores.store import Change, Changed, ForeignJob, Gone, JobStore, Refused

NAMESPACE = "stores"


class ClusterWorld:
    def __init__(self, client: Client) -> None:
        self.client = client

    def open(self) -> JobStore:
        return KubernetesStore(Transport(self.client.api), NAMESPACE, "demo", lambda: True)

    def state(self) -> StateStore:
        return KubernetesStateStore(Transport(self.client.api), NAMESPACE, "demo")

    def template(self, result: str = "", code: int = 0, takes: float = 0.0) -> dict[str, Any]:
        template: dict[str, Any] = yaml.safe_load(job_template("true"))
        template["spec"]["template"]["metadata"] = {
            "annotations": {
                "simulated/result": result,
                "simulated/exit-code": str(code),
                "simulated/takes": f"{takes}s",
            }
        }
        return template


def config_map(client: Client, name: str, data: dict[str, str]) -> dict[str, Any]:
    """Its ownerReference."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    uid = client.create(manifest, NAMESPACE).body["metadata"]["uid"]
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": True}


@pytest.fixture(scope="module")
def world(simulated_cluster: Client) -> ClusterWorld:
    simulated_cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
    until = time.monotonic() + 30
    while simulated_cluster.request("GET", account).status != 200:
        assert time.monotonic() < until, "without its default service account a namespace runs no pods"
        time.sleep(0.05)
    files = queue_files("work", "true")
    config_map(simulated_cluster, "demo-work", {"settings.yaml": files.settings, "job.yaml": files.job})
    config_map(simulated_cluster, "demo-manager", {})
    return ClusterWorld(simulated_cluster)


class TestKubernetesStore(StoreSuite):
    def test_a_job_deleted_by_hand_is_gone(self, world: ClusterWorld) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template(takes=600), owner, "deleted"))
                path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{made.job}"
                world.client.request("DELETE", path, propagationPolicy="Background")
                await changes.until(lambda each: each == Gone(made.job))

        self.run(scenario())

    def test_jobs_of_others_are_neither_listed_nor_touched(self, world: ClusterWorld) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, _, changes):
                other = config_map(world.client, "somebody-else", {})
                body = manifest(world.template(), other, "foreign")
                name = body["metadata"]["name"]
                assert world.client.create(body, NAMESPACE).status == 201
                listed = await changes.listed()
                assert name not in {job.job for job in listed}
                with pytest.raises(ForeignJob):
                    await store.get("work", name)
                await asyncio.sleep(1)
                seen = [each.job.job for each in changes.seen if isinstance(each, Changed)]
                assert name not in seen

        self.run(scenario())

    def test_a_job_without_its_large_item_is_completed(self, world: ClusterWorld) -> None:
        """As after a crash between the two writes; and what somebody else put in the way is left alone."""

        async def scenario() -> None:
            data = json.dumps("x" * 500 * 1024)
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                body = manifest(world.template(), owner, "halved", data)
                name = body["metadata"]["name"]
                config_map(world.client, name, {})
                with pytest.raises(Refused, match="in the way"):
                    await store.create("work", body, data)
            path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{name}"
            assert world.client.request("DELETE", path).status == 200
            async with opened(world) as (store, _, changes):
                (found,) = [job for job in await changes.listed() if job.job == name]
                assert found.content == "absent"
                with pytest.raises(LookupError):
                    await store.data(found)
                whole = await store.complete(found, data)
                assert (whole.content, await store.data(whole)) == ("apart", data)
            answer = world.client.request("GET", path)
            assert answer.body["immutable"] is True
            (owner,) = answer.body["metadata"]["ownerReferences"]
            assert (owner["kind"], owner["name"]) == ("Job", name)

        self.run(scenario())

    def test_what_keeps_a_pod_from_starting_is_told(self, world: ClusterWorld) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template(takes=600), owner, "hindered"))
                await changes.until(
                    lambda each: isinstance(each, Changed) and each.job.job == made.job and each.job.running
                )
                pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
                selected = {"labelSelector": f"batch.kubernetes.io/job-name={made.job}"}
                (pod,) = world.client.request("GET", pods, **selected).body["items"]
                (status,) = pod["status"]["containerStatuses"]
                status["state"] = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
                patch = {"status": {"containerStatuses": [status]}}
                name = pod["metadata"]["name"]
                assert world.client.request("PATCH", f"{pods}/{name}/status", patch).status == 200
                told = await changes.until(
                    lambda each: (
                        isinstance(each, Changed) and each.job.job == made.job and bool(each.job.hindrance)
                    )
                )
                assert isinstance(told, Changed)
                assert told.job.hindrance == "container worker: ImagePullBackOff: no such image"
                assert told.job.hindered_by == "image"
                assert (told.job.phase, told.job.running) == ("active", False)

        self.run(scenario())

    def test_a_job_whose_pod_is_gone_has_no_result(self, world: ClusterWorld) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template("[1]"), owner, "podless"))
                await changes.job(made.job, "succeeded")
            selected = {"labelSelector": f"batch.kubernetes.io/job-name={made.job}"}
            world.client.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods", **selected)
            await asyncio.sleep(2)
            async with opened(world) as (_, _, changes):
                found = await changes.found(made.job)
                assert (found.phase, found.message) == ("succeeded", None)

        self.run(scenario())

    def test_while_the_pod_of_one_job_cannot_be_asked_for_others_go_on(self, world: ClusterWorld) -> None:
        class Refusing(Transport):
            job = ""

            async def ask(self, method: str, path: str, *others: Any, **named: Any) -> bytes:
                asked = others[0] if others else named.get("query")
                if self.job and self.job in (asked or {}).get("labelSelector", ""):
                    raise ApiError(429, "too many requests", 1.0)
                return await super().ask(method, path, *others, **named)

        class RefusingWorld(ClusterWorld):
            def open(self) -> JobStore:
                return KubernetesStore(Refusing(self.client.api), NAMESPACE, "demo", lambda: True)

        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template("[1]"), owner, "unclear"))
                await changes.job(made.job, "succeeded")
            selected = {"labelSelector": f"batch.kubernetes.io/job-name={made.job}"}
            world.client.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods", **selected)
            await asyncio.sleep(2)
            Refusing.job = made.job
            async with opened(RefusingWorld(world.client)) as (store, owner, changes):
                (listed,) = [job for job in await changes.listed() if job.job == made.job]
                assert (listed.phase, listed.unclear) == ("active", True)
                other = await store.create("work", manifest(world.template("[2]"), owner, "meanwhile"))
                assert (await changes.job(other.job, "succeeded")).message == "[2]"
                assert not [each for each in changes.seen if _is_of(each, made.job)]
                Refusing.job = ""
                assert (await changes.found(made.job)).phase == "succeeded"

        self.run(scenario())


def _is_of(change: Change, name: str) -> bool:
    return isinstance(change, Changed) and change.job.job == name
