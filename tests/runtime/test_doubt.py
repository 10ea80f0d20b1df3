"""While nobody can say which Jobs there are, nothing is started."""

import asyncio
from pathlib import Path

from support.localrun import jobs, managed, queue_files
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.probes import _readiness
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


def test_nothing_begins_before_it_is_known_what_people_asked_for_and_status_says_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("doubt")
        workflow.queue("work", workflow.source("names"))
        files = {"work": queue_files("work", "true")}
        file = tmp_path / "state.json"
        file.write_text("rubbish")
        async with managed(workflow, tmp_path, files, {"names": ["a"]}) as manager:
            status = await manager.until(lambda status: status.queues and status.queues[0].blocked)
            assert status.queues[0].blocked.startswith(
                f"the workflow's state can't be read: {file} is damaged"
            )
            assert status.queues[0].blocked_by == "api"
            assert _readiness(status).status == 503
            assert not jobs(tmp_path)
            file.unlink()
            status = await manager.until_done(1)
            assert (status.queues[0].blocked, status.queues[0].notice) == ("", "")
            file.write_text("rubbish")
            status = await manager.until(lambda status: status.queues[0].notice)
            assert "state can't be read" in status.queues[0].notice
            assert not status.queues[0].blocked, "what runs goes on"

    asyncio.run(scenario())
