"""A workflow run on this machine, with workers that are shell scripts."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from wqc.runtime.carriers.carrier import Carrier
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.manager import Manager
from wqc.runtime.manager.status import Status
from wqc.runtime.periods import Periods
from wqc.runtime.queue.ledger import read_segment
from wqc.runtime.sources.items import ItemsSource
from wqc.runtime.sources.source import Source
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import QueueFiles, Segment

QUICK = Periods(
    backoff=0.05,
    backoff_limit=0.2,
    flush=0.1,
    listing=0.1,
    retry_listing=0.05,
    refused=0.05,
    request=2.0,
    report=0.1,
)


def job_template(script: str, **pod: Any) -> str:
    """A queue's job.yaml, as `wqc build` writes it."""
    container = {
        "name": "worker",
        "image": "busybox",
        "command": ["sh", "-ec", script],
        "env": [
            {"name": "WORK_ITEM_FILE", "value": "/wqc/item/item.json"},
            {"name": "WORK_ITEM_DIR", "value": "/wqc/item/fields"},
            {"name": "WORK_RESULT_FILE", "value": "/dev/termination-log"},
        ],
        "volumeMounts": [{"name": "item", "mountPath": "/wqc/item", "readOnly": True}],
    }
    item = {"path": "item.json", "fieldRef": {"fieldPath": "metadata.annotations['wqc/item']"}}
    spec = {
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": [{"name": "item", "downwardAPI": {"items": [item]}}],
    } | pod
    return yaml.safe_dump(
        {"apiVersion": "batch/v1", "kind": "Job", "spec": {"backoffLimit": 0, "template": {"spec": spec}}}
    )


def queue_files(
    queue: str,
    script: str,
    lanes: Sequence[str] = ("",),
    at_once: int = 4,
    pod: Mapping[str, Any] | None = None,
    **settings: Any,
) -> QueueFiles:
    each = [{"name": lane, "parallelism": {"min": at_once, "max": at_once}} for lane in lanes]
    text = yaml.safe_dump({"queue": queue, "lanes": each} | settings)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": queue, "uid": "0", "controller": True}
    return QueueFiles(text, job_template(script, **(pod or {})), owner)


async def until_idle(
    workflow: Workflow,
    state: Path,
    files: Mapping[str, QueueFiles],
    sources: Mapping[str, Source | list[str] | dict[str, Any]],
    timeout: float = 60.0,
    watch: Callable[[Status], None] = lambda status: None,
    periods: Periods = QUICK,
    carriers: Mapping[str, Carrier] | None = None,
) -> Status:
    """Run until nothing is left to do; what the manager then says. `watch` is told all the while."""
    store = LocalStore(state, files)
    opened = {
        Port(*name.split(".")): ItemsSource(each) if isinstance(each, list | dict) else each
        for name, each in sources.items()
    }
    manager = Manager(workflow, store, LocalStateStore(state), opened, periods, carriers)
    run = asyncio.create_task(manager.run())
    try:
        async with asyncio.timeout(timeout):
            while not manager.status().idle:
                watch(manager.status())
                if run.done():
                    run.result()
                await asyncio.sleep(0.02)
        return manager.status()
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await store.close()


def jobs(state: Path) -> list[dict[str, Any]]:
    """The identities of all Jobs that are kept."""
    texts = [path.read_text() for path in sorted((state / "jobs").glob("*/job.json"))]
    return [json.loads(json.loads(text)["job"]["metadata"]["annotations"]["wqc/item"]) for text in texts]


def recorded(state: Path, node: str) -> Counter[bytes]:
    """How often each item is in a queue's or carrier's record."""
    found: Counter[bytes] = Counter()
    for path in (state / "ledger" / node).iterdir():
        if path.suffix == ".new":
            continue  # it was being written when the run was killed, and is no part of the record
        found.update(read_segment(Segment(path.name, path.read_bytes()))[1])
    return found
