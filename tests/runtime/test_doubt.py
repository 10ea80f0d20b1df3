"""While nobody can say which Jobs there are, nothing is started."""

import asyncio
from pathlib import Path

from runtime.test_going_on import Shared, running
from support.localrun import jobs
from wqc.runtime.manager.manager import Manager
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Listed, Unsure


def test_nothing_is_started_until_jobs_can_be_listed_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Shared({"a": 1})
        async with running(tmp_path, source) as manager:
            store = store_of(manager)
            store._changes.put_nowait(Unsure("the API server can't be reached"))
            await asyncio.sleep(0.1)
            source.data["b"] = 2
            await asyncio.sleep(1.0)
            assert manager.status().queues[0].waiting == 1
            assert manager.status().queues[0].blocked == (
                "its Jobs can't be listed: the API server can't be reached"
            )
            assert not any(job["name"] == "b" for job in jobs(tmp_path))
            store._changes.put_nowait(Listed(()))
            async with asyncio.timeout(30):
                while manager.status().queues[0].done < 2:
                    await asyncio.sleep(0.02)

    asyncio.run(scenario())


def store_of(manager: Manager) -> LocalStore:
    store = manager._store
    assert isinstance(store, LocalStore)
    return store
