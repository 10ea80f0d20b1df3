"""What a manager measures, read as Prometheus reads it."""

import asyncio
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

from prometheus_client.parser import text_string_to_metric_families

from support.localrun import managed, queue_files
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.metrics import exposition
from wqc.runtime.manager.status import QueueStatus, SourceStatus, Status
from wqc.runtime.obstacles import Kind
from wqc.runtime.stores.kubernetes.traffic import Traffic
from wqc.runtime.stores.local.state import LocalStateStore

BUSY = QueueStatus(
    "thumbs",
    waiting=3,
    running=2,
    parallelism=8,
    done=1_000_000,
    failed=3,
    held=1,
    handing=0,
    oldest=12.5,
    arrival_interval=None,
    slot_time=33.25,
    rate=0.1,
    blocked="no image",
    knows=True,
    failures=(),
    blocked_by="image",
)


def measured(status: Status, traffic: Traffic) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(exposition("films", status, traffic))
        for sample in family.samples
    }


def test_every_queue_and_source_is_measured() -> None:
    sources = (SourceStatus("clips", "it hangs", up=False), SourceStatus("stills", "a: it is locked"))
    status = Status(sources, (BUSY,), (), idle=False)
    found = measured(status, Traffic())
    assert found["wqc_items", "films", "thumbs", "done"] == 1_000_000
    assert found["wqc_items", "films", "thumbs", "waiting"] == 3
    assert found["wqc_items", "films", "thumbs", "failed"] == 3
    assert found["wqc_held_items", "films", "thumbs"] == 1
    assert found["wqc_oldest_waiting_seconds", "films", "thumbs"] == 12.5
    assert found["wqc_utilisation", "films", "thumbs"] == 0.25
    assert found["wqc_slot_seconds", "films", "thumbs"] == 33.25
    assert found["wqc_queue_blocked", "films", "thumbs", "image"] == 1
    assert found["wqc_source_up", "films", "clips"] == 0
    assert found["wqc_source_up", "films", "stills"] == 1, "one item of it can't be read"
    # what isn't known isn't said
    assert ("wqc_arrival_interval_seconds", "films", "thumbs") not in found


def test_a_queue_with_nothing_in_its_way_has_no_reason() -> None:
    status = Status((), (replace(BUSY, blocked="", blocked_by=""),), (), idle=False)
    found = {
        key: value for key, value in measured(status, Traffic()).items() if key[0] == "wqc_queue_blocked"
    }
    assert found == {("wqc_queue_blocked", "films", "thumbs", ""): 0}


def test_every_reason_is_explained() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "running.md").read_text(encoding="utf-8")
    table = page.partition("| reason | what is in the way |\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.M) == sorted(filter(None, get_args(Kind)))


def test_requests_are_counted_as_a_role_names_them() -> None:
    traffic = Traffic()
    jobs = "/apis/batch/v1/namespaces/media/jobs"
    for method, path, query, status in (
        ("POST", jobs, {}, 201),
        ("POST", jobs, {}, 409),
        ("GET", jobs, {"limit": "500"}, 200),
        ("GET", jobs, {"watch": "true"}, 200),
        ("GET", f"{jobs}/watch", {}, 404),
        ("PATCH", f"{jobs}/a", {}, 0),
        ("DELETE", "/api/v1/namespaces/media/configmaps/a", {}, 200),
    ):
        traffic.asked(method, path, query, status)
    traffic.heard(jobs)
    found = measured(Status((), (), (), idle=True), traffic)
    requests = {key[2:]: value for key, value in found.items() if key[0] == "wqc_api_requests_total"}
    assert requests == {
        ("create", "jobs", "201"): 1,
        ("create", "jobs", "409"): 1,
        ("list", "jobs", "200"): 1,
        ("watch", "jobs", "200"): 1,
        ("get", "jobs", "404"): 1,
        ("patch", "jobs", "0"): 1,
        ("delete", "configmaps", "200"): 1,
    }
    assert 0 <= found["wqc_watch_age_seconds", "films", "jobs"] < 5


def test_what_waits_grows_older_until_it_is_started(tmp_path: Path) -> None:
    workflow = Workflow("films")
    workflow.queue("thumbs", workflow.source("clips"))
    files = {"thumbs": queue_files("thumbs", "true")}

    def oldest(status: Status) -> float:
        return measured(status, Traffic())["wqc_oldest_waiting_seconds", "films", "thumbs"]

    async def scenario() -> None:
        people = LocalStateStore(tmp_path)
        await people.write({"paused.thumbs": ""})
        began = time.monotonic()
        async with managed(workflow, tmp_path, files, {"clips": ["a", "b"]}) as manager:
            await manager.until(lambda status: status.queues and status.queues[0].waiting == 2)
            came = time.monotonic()
            await asyncio.sleep(1.2)
            least, found = time.monotonic() - came, oldest(manager.status())
            assert 1.0 < least <= found <= time.monotonic() - began
            await people.write({"paused.thumbs": None})
            assert oldest(await manager.until_done(2)) == 0

    asyncio.run(scenario())


def test_a_view_of_the_cluster_grows_older_while_nothing_is_heard() -> None:
    traffic = Traffic()

    def age(resource: str) -> float:
        status = Status((), (), (), idle=True)
        return measured(status, traffic)["wqc_watch_age_seconds", "films", resource]

    traffic.heard("/apis/batch/v1/namespaces/media/jobs")
    traffic.heard("/api/v1/namespaces/media/pods")
    time.sleep(0.6)
    traffic.heard("/apis/batch/v1/namespaces/media/jobs")
    traffic.asked("GET", "/api/v1/namespaces/media/pods", {"watch": "true"}, 200)
    assert age("jobs") < 0.5 < age("pods"), "an answer isn't news of a pod"
