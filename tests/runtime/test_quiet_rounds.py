"""Listing what is known already makes no request per item: a condition is asked once of each version."""

import asyncio
from collections import Counter
from pathlib import Path

from support.localrun import managed, queue_files
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.sources.source import Listing

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
        files = {"work": queue_files("work", "true")}
        async with managed(workflow, tmp_path, files, {"names": source}) as manager:

            async def more_rounds() -> None:
                wanted = source.rounds + 5
                await manager.until(lambda status: source.rounds >= wanted and status.idle, 60)

            await more_rounds()
            assert source.asked == Counter(list(source.data))
            source.version = "2"
            await more_rounds()
            assert source.asked == Counter(list(source.data)) + Counter(["item 7"])

    asyncio.run(scenario())
