"""What people ask a workflow on a cluster by the command line, and what it says."""

import asyncio
import re
import time
from pathlib import Path
from typing import Any

from cluster.client import Client
from cluster.test_manager import Crash
from support.command import Ran, wqc
from wqc.cli.running import Cluster
from wqc.runtime.stores.kubernetes.transport import Transport


def plain(out: str) -> str:
    """Without its rates."""
    return re.sub(r" +\d+\.\d/(s|min)( +\d+[smh]( \d\d[smh])?)?$", "", out, flags=re.M)


def test_a_queue_is_paused_and_its_failed_items_are_retried_and_discarded(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    deployed = Crash(simulated_cluster, "people", tmp_path, ["a", "b"])
    path = f"{deployed.core}/configmaps/crash-first"
    files = simulated_cluster.request("GET", path).body["data"]
    settings = files["settings.yaml"] + "retries: 0\n"
    template = files["job.yaml"].replace("annotations:", "annotations:\n        simulated/exit-code: '3'")
    simulated_cluster.request("PATCH", path, {"data": {"settings.yaml": settings, "job.yaml": template}})
    deployed.environment["WQC_PERIODS"] += " report=0.2"

    def ask(*words: str) -> Ran:
        kubeconfig = str(simulated_cluster.kubeconfig)
        return wqc(*words, "-n", "people", folder=tmp_path, KUBECONFIG=kubeconfig)

    def until(expected: str) -> None:
        end = time.monotonic() + 60
        while expected not in (out := plain(ask("status").out)):
            assert time.monotonic() < end, (out, deployed.log.read_text()[-4000:])
            time.sleep(0.3)

    assert ask("status") == Ran(2, "", "wqc: namespace people has no workflow whose manager ever ran\n")
    manager = deployed.start()
    try:
        until("first         0        0     0       2\n")
        until("first: b failed: exit code 3\n")
        assert ask("retry", "first", "a") == Ran(0, "first: 1 item is tried again\n", "")
        until("first         0        0     0       2\n")
        rounds = sorted(job["metadata"]["annotations"]["wqc/item"] for job in deployed.jobs())
        assert [text[:12] + re.findall('"round":.', text)[0] for text in rounds] == [
            '{"name":"a","round":0',
            '{"name":"a","round":1',
            '{"name":"b","round":0',
        ]
        assert ask("pause", "second") == Ran(0, "second is paused; what runs goes on to its end\n", "")
        assert ask("discard", "first") == Ran(0, "first: 2 items are discarded\n", "")
        until("first         0        0     2       0\nsecond        0        0     0       0\n")
        until("second: paused by wqc pause\n")
        assert ask("resume", "crash/second") == Ran(0, "second goes on\n", "")
    finally:
        manager.terminate()
        manager.wait(timeout=10)
    state = simulated_cluster.request("GET", f"{deployed.core}/configmaps/crash-state").body["metadata"]
    assert state["labels"] == {"wqc/workflow": "crash"}
    assert {owner["name"] for owner in state["ownerReferences"]} == {
        "crash-first",
        "crash-second",
        "crash-manager",
    }
    assert ask("status").out.startswith("crash: no manager runs; this is from ")
    noted = "second: crash's manager doesn't run; it starts nothing of second once it does\n"
    assert ask("pause", "second") == Ran(0, noted, "")


class Weighing(Transport):
    """Knows how much it was sent."""

    weight = 0

    async def ask(self, *asked: Any, **named: Any) -> bytes:
        answer = await super().ask(*asked, **named)
        self.weight += len(answer)
        return answer


def test_what_workflows_there_are_is_asked_without_what_their_records_hold(api_server: Client) -> None:
    """Records of finished items and large items have a workflow's label too, and there may be thousands."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "records"}}
    assert api_server.create(space).status == 201
    names = ["shop-state", *(f"shop-record-{number:03}" for number in range(600))]
    for name in names:
        metadata = {"name": name, "labels": {"wqc/workflow": "shop"}}
        data = {"data": {"text": "x" * 10_000}}
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata} | data
        assert api_server.create(made, "records").status == 201
    transport = Weighing(api_server.api)
    assert asyncio.run(Cluster(transport, "records").workflows()) == ["shop"]
    assert transport.weight < 600 * 1_000
