"""Listing what is known already makes no request per item: a condition is asked once of each version."""

import asyncio
from collections import Counter
from pathlib import Path

from runtime.test_going_on import Shared
from support.localrun import QUICK, queue_files
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.manager import Manager
from wqc.runtime.sources.source import Listing
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import LocalStore

COUNT = 500


class Counting(Shared):
    """`asked`: how often each item was read."""

    def __init__(self) -> None:
        super().__init__({f"item {number}": number for number in range(COUNT)})
        self.version = ""
        self.rounds = 0
        self.asked: Counter[str] = Counter()

    async def list(self) -> Listing:
        self.rounds += 1
        return Listing({name: self.version if name == "item 7" else "" for name in self.data})

    async def get(self, name: str) -> str:
        self.asked[name] += 1
        return await super().get(name)


def test_each_version_of_an_item_is_read_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("quiet")
        kept = workflow.filter("kept", workflow.source("names"), where="item.data < 0")
        workflow.queue("work", kept)
        source = Counting()
        store = LocalStore(tmp_path, {"work": queue_files("work", "true")})
        manager = Manager(workflow, store, LocalStateStore(tmp_path), {Port("names"): source}, QUICK)
        run = asyncio.create_task(manager.run())

        async def more_rounds() -> None:
            until = source.rounds + 5
            async with asyncio.timeout(60):
                while source.rounds < until or not manager.status().idle:
                    await asyncio.sleep(0.02)

        try:
            await more_rounds()
            assert source.asked == Counter(list(source.data))
            source.version = "2"
            await more_rounds()
            assert source.asked == Counter(list(source.data)) + Counter(["item 7"])
        finally:
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)
            await store.close()

    asyncio.run(scenario())
