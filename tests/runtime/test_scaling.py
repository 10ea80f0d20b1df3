"""What a queue's parallelism starts from, and what it counts: through a whole manager."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.localrun import Managed, managed, queue_files
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Change, Changed, QueueFiles

FOREVER = "sleep 600 & wait"


def scaled(script: str, least: int, most: int, **settings: Any) -> QueueFiles:
    files = queue_files("work", script, **settings)
    read = yaml.safe_load(files.settings)
    read["lanes"][0]["parallelism"] = {"min": least, "max": most}
    return replace(files, settings=yaml.safe_dump(read))


@asynccontextmanager
async def running(store: LocalStore, folder: Path, source: Shared) -> AsyncIterator[Managed]:
    workflow = Workflow("scaled")
    workflow.queue("work", workflow.source("names"))
    async with managed(workflow, folder, store, {"names": source}) as manager:
        try:
            await manager.until(lambda status: status.queues)
            yield manager
        finally:
            store.end_at_once()


@pytest.mark.parametrize(
    ("settings", "at_work"),
    [
        ({"takes": 90.0, "deadline": 600.0}, 3),  # 20 × 90 s in 600 s
        ({"takes": 90.0, "deadline": 100.0}, 8),  # 18 would be wanted
        ({"takes": 90.0}, 2),  # within an hour one would do
        ({"takes": 90.0, "arrives": 20.0}, 5),  # 4.5 are busy all the time
        ({"arrives": 20.0, "deadline": 100.0}, 2),  # how long an item takes isn't known
    ],
)
def test_it_starts_from_what_the_file_states_and_stays_within_its_bounds(
    tmp_path: Path, settings: dict[str, float], at_work: int
) -> None:
    async def scenario() -> None:
        source = Shared({f"item {number}": number for number in range(20)})
        store = LocalStore(tmp_path, {"work": scaled(FOREVER, 2, 8, **settings)})
        async with running(store, tmp_path, source) as manager:
            await manager.until(lambda status: status.queues[0].running >= at_work)
            await asyncio.sleep(0.5)
            status = manager.status().queues[0]
            assert (status.running, status.parallelism) == (at_work, at_work)

    asyncio.run(scenario())


def test_the_first_listing_is_backlog_and_only_what_comes_later_has_arrived(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Shared({f"item {number}": number for number in range(20)})
        store = LocalStore(tmp_path, {"work": queue_files("work", "true", at_once=8)})
        async with running(store, tmp_path, source) as manager:
            status = await manager.until_done(20)
            assert status.queues[0].arrival_interval is None
            source.data["later"] = 1
            status = await manager.until_done(21)
            assert status.queues[0].arrival_interval is not None

    asyncio.run(scenario())


def test_a_slot_is_taken_from_the_job_s_begin_to_its_end_without_the_wait_for_a_node(tmp_path: Path) -> None:
    class Slow(LocalStore):
        """As if each Job had taken 100 s, and its pod had waited 40 s of them for a node."""

        async def changes(self) -> AsyncIterator[Change]:
            async for change in super().changes():
                if isinstance(change, Changed) and change.job.phase == "succeeded":
                    change = Changed(slow(change.job))
                yield change

    def slow(job: Job) -> Job:
        return replace(job, finished=job.created + 100.0, unscheduled=40.0)

    async def scenario() -> None:
        store = Slow(tmp_path, {"work": queue_files("work", "true")})
        async with running(store, tmp_path, Shared({"a": 1, "b": 2})) as manager:
            status = await manager.until_done(2)
            assert status.queues[0].slot_time == pytest.approx(60.0)

    asyncio.run(scenario())
