"""The API server refuses, forgets, and loses answers of what it did: nothing is lost, nothing repeated."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
import urllib3
import yaml
from kubernetes.client import ApiClient

from cluster.client import Client
from support.localrun import QUICK, job_template, queue_files
from wqc.contract.names import item_hash
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.manager import Manager
from wqc.runtime.queue.ledger import read_segment
from wqc.runtime.sources.items import ItemsSource
from wqc.runtime.stores.kubernetes.state import KubernetesStateStore
from wqc.runtime.stores.kubernetes.store import KubernetesStore
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport


class Faulty(Transport):
    """Every so many requests fail: some before the server sees them, some after it did what they ask."""

    def __init__(self, client: ApiClient, seed: int) -> None:
        super().__init__(client)
        self.chance = random.Random(seed)
        self.faults: Counter[str] = Counter()
        self.well = False

    async def ask(self, *asked: Any, **more: Any) -> bytes:
        fault = self.fault("refused", "busy", "broken", "unanswered")
        if fault == "refused":
            raise ApiError(0, "the connection was refused")
        if fault == "busy":
            raise ApiError(429, "too many requests", 0.1)
        if fault == "broken":
            raise ApiError(500, "etcd has no leader")
        answer = await super().ask(*asked, **more)
        if fault == "unanswered":
            raise ApiError(0, "the answer broke off")
        return answer

    def stream(self, path: str, query: Mapping[str, str], silence: float) -> urllib3.BaseHTTPResponse:
        if self.fault("forgotten", "refused") == "forgotten":
            raise ApiError(410, "too old resource version")
        return super().stream(path, {**query, "timeoutSeconds": str(self.chance.randint(1, 2))}, silence)

    def fault(self, *kinds: str) -> str:
        if self.well or self.chance.random() > 0.25:
            return ""
        kind = self.chance.choice(kinds)
        self.faults[kind] += 1
        return kind


def deployed(client: Client, namespace: str) -> None:
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    while client.request("GET", f"/api/v1/namespaces/{namespace}/serviceaccounts/default").status != 200:
        time.sleep(0.05)
    manager = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "faults-manager"}}
    client.create(manager, namespace)
    for queue in ("first", "second"):
        files = queue_files(queue, "true", result="required" if queue == "first" else "none")
        template = yaml.safe_load(job_template("true"))
        template["spec"]["template"]["metadata"] = {"annotations": {"simulated/result": '{"n":1}'}}
        data = {"settings.yaml": files.settings, "job.yaml": yaml.safe_dump(template)}
        metadata = {"name": f"faults-{queue}"}
        client.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}, namespace
        )


@pytest.mark.parametrize("seed", range(3))
def test_a_server_that_fails_a_quarter_of_all_requests(simulated_cluster: Client, seed: int) -> None:
    namespace = f"faults-{seed}"
    deployed(simulated_cluster, namespace)
    names = [f"item {number}" for number in range(15)]

    async def scenario() -> tuple[Faulty, dict[str, Counter[bytes]]]:
        workflow = Workflow("faults")
        workflow.queue("second", workflow.queue("first", workflow.source("names")))
        transport = Faulty(simulated_cluster.api, seed)
        store = KubernetesStore(transport, namespace, "faults", lambda: True)
        state = KubernetesStateStore(transport, namespace, "faults")
        manager = Manager(workflow, store, state, {Port("names"): ItemsSource(names)}, QUICK)
        run = asyncio.create_task(manager.run())
        try:
            async with asyncio.timeout(150):
                while not manager.status().idle:
                    if run.done():
                        run.result()
                    await asyncio.sleep(0.1)
            transport.well = True
            recorded: dict[str, Counter[bytes]] = {}
            for queue in ("first", "second"):
                segments = await store.segments(queue)
                recorded[queue] = Counter(key for each in segments for key in read_segment(each)[1])
            return transport, recorded
        finally:
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)
            await store.close()
            await state.close()

    transport, recorded = asyncio.run(scenario())
    assert {"refused", "busy", "broken", "unanswered"} <= transport.faults.keys()
    everything = Counter(item_hash(name, "") for name in names)
    assert recorded == dict.fromkeys(("first", "second"), everything)
    jobs = simulated_cluster.request("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs").body["items"]
    worked = Counter(
        (
            job["metadata"]["labels"]["wqc/queue"],
            json.loads(job["metadata"]["annotations"]["wqc/item"])["name"],
        )
        for job in jobs
    )
    assert worked == Counter((queue, name) for queue in ("first", "second") for name in names)
    assert all("wqc/done" in job["metadata"]["labels"] for job in jobs)
