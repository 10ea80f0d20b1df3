"""Over random graphs on simulated nodes, with workers that fail at each attempt or at the first ones, and
with versions that change: the Jobs are what the pure functions say.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
import yaml

from cluster.client import Client
from support.localrun import QUICK, queue_files
from support.random_workflow import Plan, Work, both_rounds, number, planned
from wqc.contract.names import object_name
from wqc.runtime.graph.graph import Port
from wqc.runtime.manager.manager import Manager
from wqc.runtime.manager.status import Status
from wqc.runtime.stores.kubernetes.state import KubernetesStateStore
from wqc.runtime.stores.kubernetes.store import KubernetesStore
from wqc.runtime.stores.kubernetes.transport import Transport
from wqc.runtime.stores.store import QueueFiles

SECONDS = 240


def made(work: Work) -> QueueFiles:
    files = queue_files(work.queue, "true", work.lanes, at_once=8, **work.settings)
    template = yaml.safe_load(files.job)
    notes = {"simulated/fails-at": f"{work.modulus} {work.rest}"}
    if falters := work.falters:
        notes["simulated/falters-at"] = f"{falters.modulus} {falters.rest} {falters.times}"
    if work.adds is not None:
        notes["simulated/adds"] = str(work.adds)
    template["spec"]["template"]["metadata"] = {"annotations": notes}
    return replace(files, job=yaml.safe_dump(template))


def deploy(client: Client, namespace: str, plan: Plan) -> None:
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    while client.request("GET", f"/api/v1/namespaces/{namespace}/serviceaccounts/default").status != 200:
        time.sleep(0.05)
    maps = {
        object_name("random", queue): {"settings.yaml": files.settings, "job.yaml": files.job}
        for queue, files in plan.files.items()
    }
    for name, data in {**maps, "random-manager": {}}.items():
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
        assert client.create(manifest, namespace).status == 201


async def run(client: Client, namespace: str, plan: Plan) -> Status:
    """What the manager says in the end."""
    transport = Transport(client.api)
    store = KubernetesStore(transport, namespace, "random", lambda: True)
    state = KubernetesStateStore(transport, namespace, "random")
    manager = Manager(plan.workflow, store, state, {Port("numbers"): plan.numbers}, QUICK, plan.carriers)
    running = asyncio.create_task(manager.run())

    async def until(holds: Callable[[Status], object]) -> Status:
        while not holds(status := manager.status()):
            if running.done():
                running.result()
            await asyncio.sleep(0.2)
        return status

    try:
        async with asyncio.timeout(SECONDS):
            return await both_rounds(plan.numbers, until)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await store.close()
        await state.close()


@pytest.mark.parametrize("seed", range(100, 103))
def test_books_balance(simulated_cluster: Client, seed: int) -> None:
    plan = planned(seed, made)
    namespace = f"random-{seed}"
    deploy(simulated_cluster, namespace, plan)
    status = asyncio.run(run(simulated_cluster, namespace, plan))
    done: Counter[str] = Counter()
    failed: set[tuple[str, str, str]] = set()
    succeeded: set[tuple[str, str, str]] = set()
    for job in simulated_cluster.request("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs").body["items"]:
        queue = job["metadata"]["labels"]["wqc/queue"]
        identity = json.loads(job["metadata"]["annotations"]["wqc/item"])
        item = (queue, identity["name"], identity["version"])
        if job["status"].get("succeeded"):
            data = json.loads(job["spec"]["template"]["metadata"]["annotations"]["wqc/item"])
            done[f"{queue} {number(data)}"] += 1
            succeeded.add(item)
        else:
            failed.add(item)
    assert done == plan.expected
    assert {queue for queue, _, _ in failed & succeeded} == plan.late
    assert Counter({queue.queue: queue.failed for queue in status.queues}) == plan.failed
    assert Counter({queue.queue: queue.held for queue in status.queues}) == plan.held
    assert {name: each.published for name, each in plan.carriers.items()} == plan.carried
