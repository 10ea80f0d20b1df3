"""A queue whose finished items nobody takes starts nothing more."""

import asyncio
from pathlib import Path

from support.localrun import jobs, managed, queue_files
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.stores.local.state import LocalStateStore

HANDOVER = 3


def test_it_waits_until_its_reader_goes_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("pressed")
        workflow.queue("second", workflow.queue("first", workflow.source("names")))
        files = {
            "first": queue_files("first", "true", at_once=1, handover=HANDOVER),
            "second": queue_files("second", "true"),
        }
        people = LocalStateStore(tmp_path)
        await people.write({"paused.second": ""})
        names = [f"item {number}" for number in range(8)]
        async with managed(workflow, tmp_path, files, {"names": names}) as manager:
            await manager.until(lambda status: status.queues and status.queues[0].handing == HANDOVER)
            await asyncio.sleep(1.0)
            assert len(jobs(tmp_path)) == HANDOVER
            queue = manager.status().queues[0]
            assert (queue.blocked_by, queue.blocked) == ("reader", "3 finished items wait for their reader")
            await people.write({"paused.second": None})
            status = await manager.until_done(8, 8)
            assert (status.queues[0].blocked_by, status.queues[0].blocked) == ("", "")

    asyncio.run(scenario())
