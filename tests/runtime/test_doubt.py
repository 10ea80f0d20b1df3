"""While nobody can say which Jobs there are, nothing is started."""

import asyncio
from pathlib import Path

from support.localrun import jobs, managed, queue_files
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.stores.store import Listed, Unsure


def test_nothing_is_started_until_jobs_can_be_listed_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Shared({"a": 1})
        workflow = Workflow("doubt")
        workflow.queue("work", workflow.source("names"))
        files = {"work": queue_files("work", "true", keep=0)}
        async with managed(workflow, tmp_path, files, {"names": source}) as manager:
            await manager.until(lambda status: status.idle)
            manager.store._changes.put_nowait(Unsure("the API server can't be reached"))
            await asyncio.sleep(0.1)
            source.data["b"] = 2
            await asyncio.sleep(1.0)
            assert manager.status().queues[0].waiting == 1
            assert manager.status().queues[0].blocked == (
                "its Jobs can't be listed: the API server can't be reached"
            )
            assert manager.status().queues[0].blocked_by == "api"
            assert not any(job["name"] == "b" for job in jobs(tmp_path))
            manager.store._changes.put_nowait(Listed(()))
            await manager.until_done(2)

    asyncio.run(scenario())
