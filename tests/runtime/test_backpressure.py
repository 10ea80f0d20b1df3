"""A queue whose finished items nobody takes starts nothing more."""

import asyncio
from pathlib import Path

from support.localrun import QUICK, jobs, queue_files
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.manager import Manager
from wqc.runtime.sources.items import ItemsSource
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import LocalStore

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
        store = LocalStore(tmp_path, files)
        sources = {Port("names"): ItemsSource([f"item {number}" for number in range(8)])}
        manager = Manager(workflow, store, LocalStateStore(tmp_path), sources, QUICK)
        running = asyncio.create_task(manager.run())
        try:
            async with asyncio.timeout(30):
                while not (manager.status().queues and manager.status().queues[0].handing == HANDOVER):
                    await asyncio.sleep(0.02)
            await asyncio.sleep(1.0)
            assert len(jobs(tmp_path)) == HANDOVER
            assert manager.status().queues[0].blocked == "3 finished items wait for their reader"
            await people.write({"paused.second": None})
            async with asyncio.timeout(30):
                while [queue.done for queue in manager.status().queues] != [8, 8]:
                    await asyncio.sleep(0.02)
            assert manager.status().queues[0].blocked == ""
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await store.close()

    asyncio.run(scenario())
