"""A workflow run on this machine, with workers that are shell scripts."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from wqc.runtime.carriers.carrier import Carrier
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.manager import Manager
from wqc.runtime.manager.requests import Action, Request, new_request, requests
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


@dataclass(frozen=True)
class Managed:
    """A manager that runs."""

    status: Callable[[], Status]
    store: LocalStore
    state: LocalStateStore
    run: asyncio.Task[None]

    async def until(self, holds: Callable[[Status], object], seconds: float = 30.0) -> Status:
        """What it says once that holds, which may be asked with `await`.

        Raises TimeoutError, and what the manager ended with if it ended.
        """
        end = time.monotonic() + seconds
        while True:
            status = self.status()
            found = holds(status)
            if await found if isinstance(found, Awaitable) else found:
                return status
            if self.run.done():
                self.run.result()
            if time.monotonic() > end:
                raise TimeoutError(f"after {seconds} s: {status}")
            await asyncio.sleep(0.02)

    async def until_done(self, *counts: int, seconds: float = 30.0) -> Status:
        """Each queue is done with so many items."""
        return await self.until(lambda status: tuple(each.done for each in status.queues) == counts, seconds)

    async def settled(self, holds: Callable[[Status], object] = lambda status: True) -> Status:
        """Nothing is left to do, no request is open, and that holds."""

        async def answered(status: Status) -> object:
            asked = requests((await self.state.read()).entries).values()
            return status.idle and all(each and each.done for each in asked) and holds(status)

        return await self.until(answered)


@asynccontextmanager
async def managed(
    workflow: Workflow,
    folder: Path,
    files: Mapping[str, QueueFiles] | LocalStore,
    sources: Mapping[str, Source | list[str] | dict[str, Any]],
    periods: Periods = QUICK,
    carriers: Mapping[str, Carrier] | None = None,
    state: LocalStateStore | None = None,
) -> AsyncIterator[Managed]:
    """A manager, until the block ends. A store that is given instead of queues' files is closed too."""
    store = files if isinstance(files, LocalStore) else LocalStore(folder, files)
    state = state or LocalStateStore(folder)
    opened = {
        Port(*name.split(".")): ItemsSource(each) if isinstance(each, list | dict) else each
        for name, each in sources.items()
    }
    manager = Manager(workflow, store, state, opened, periods, carriers)
    run = asyncio.create_task(manager.run())
    try:
        yield Managed(manager.status, store, state, run)
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await store.close()


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

    def idle(status: Status) -> bool:
        if not status.idle:
            watch(status)
        return status.idle

    async with managed(workflow, state, files, sources, periods, carriers) as manager:
        return await manager.until(idle, timeout)


async def ask(folder: Path, queue: str, action: Action, items: tuple[str, ...] | None = None) -> str:
    """The request's key."""
    key, text = new_request(Request(queue, action, items))
    await LocalStateStore(folder).write({key: text})
    return key


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
