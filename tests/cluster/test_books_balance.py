"""Over random graphs on simulated nodes, with workers that fail: the Jobs are what the pure functions say."""

import asyncio
import json
import time
from collections import Counter
from dataclasses import replace

import pytest
import yaml

from cluster.client import Client
from support.localrun import QUICK, queue_files
from support.random_workflow import Plan, Work, number, planned
from wqc.contract.names import object_name
from wqc.patterns.item import Item
from wqc.runtime.graph.graph import Port
from wqc.runtime.manager.manager import Manager
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.items import ItemsSource
from wqc.runtime.stores.kubernetes.state import KubernetesStateStore
from wqc.runtime.stores.kubernetes.store import KubernetesStore
from wqc.runtime.stores.kubernetes.transport import Transport
from wqc.runtime.stores.store import QueueFiles

NUMBERS = {f"n{number}": {"id": number} for number in range(12)}
SECONDS = 240


def made(work: Work) -> QueueFiles:
    wanted = {} if work.adds is None else {"result": "required"}
    files = queue_files(work.queue, "true", work.lanes, at_once=8, retries=1, **wanted)
    template = yaml.safe_load(files.job)
    notes = {"simulated/fails-at": f"{work.modulus} {work.rest}"}
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


async def until_idle(client: Client, namespace: str, plan: Plan) -> Status:
    transport = Transport(client.api)
    store = KubernetesStore(transport, namespace, "random", lambda: True)
    state = KubernetesStateStore(transport, namespace, "random")
    manager = Manager(
        plan.workflow, store, state, {Port("numbers"): ItemsSource(NUMBERS)}, QUICK, plan.carriers
    )
    run = asyncio.create_task(manager.run())
    try:
        async with asyncio.timeout(SECONDS):
            while not manager.status().idle:
                if run.done():
                    run.result()
                await asyncio.sleep(0.2)
        return manager.status()
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await store.close()
        await state.close()


@pytest.mark.parametrize("seed", range(100, 103))
def test_books_balance(simulated_cluster: Client, seed: int) -> None:
    plan = planned(seed, made, [Item(name, "", data) for name, data in NUMBERS.items()])
    namespace = f"random-{seed}"
    deploy(simulated_cluster, namespace, plan)
    status = asyncio.run(until_idle(simulated_cluster, namespace, plan))
    done: Counter[str] = Counter()
    for job in simulated_cluster.request("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs").body["items"]:
        queue = job["metadata"]["labels"]["wqc/queue"]
        item = json.loads(job["spec"]["template"]["metadata"]["annotations"]["wqc/item"])
        if job["status"].get("succeeded"):
            done[f"{queue} {number(item)}"] += 1
    assert done == plan.expected
    assert Counter({queue.queue: queue.failed for queue in status.queues}) == plan.failed
    assert Counter({queue.queue: queue.held for queue in status.queues}) == plan.held
    assert {name: each.published for name, each in plan.carriers.items()} == plan.carried
