"""What a carrier says is in its way, and how often it tries, when it isn't its service that is."""

import asyncio
from dataclasses import replace
from pathlib import Path

from support.localrun import QUICK, managed
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.sources.source import NoSuchItem, SourceError


class Service:
    """Refuses everything while it is `down`; `asked` counts the tries."""

    def __init__(self, down: bool = False) -> None:
        self.down = down
        self.asked = 0
        self.texts: list[str] = []

    async def publish(self, name: str, version: str, text: str) -> None:
        self.asked += 1
        self.texts.append(text)
        if self.down:
            raise SourceError("the service is down")

    async def close(self) -> None:
        pass


def publishing() -> Workflow:
    workflow = Workflow("out")
    workflow.carrier("out", workflow.source("names"))
    return workflow


class Vanishing(Shared):
    """An item goes while its data is on its way."""

    async def get(self, name: str) -> str:
        if name == "going":
            while name in self.data:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3)
            raise NoSuchItem("there is no going any more")
        return await super().get(name)


def test_what_is_gone_while_it_is_fetched_is_nobody_s_trouble(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Vanishing({"going": 1, "other": 2})
        carriers = {"out": Service()}
        async with managed(publishing(), tmp_path, {}, {"names": source}, carriers=carriers) as manager:
            await manager.until(lambda status: any(each.waiting for each in status.carriers))
            await asyncio.sleep(0.2)
            del source.data["going"]
            await manager.until(lambda status: [each.done for each in status.carriers] == [1])
            await asyncio.sleep(0.5)
            (carrier,) = manager.status().carriers
            assert (carrier.blocked, carrier.troubled.count) == ("", 0)

    asyncio.run(scenario())


class Slow(Shared):
    """Takes its time, for now, for what it had when it was asked."""

    takes = 2.0

    async def get(self, name: str) -> str:
        text = await super().get(name)
        await asyncio.sleep(self.takes)
        return text


def test_what_goes_and_comes_again_is_not_what_it_was(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Slow({"item": "old"})
        service = Service()
        async with managed(
            publishing(), tmp_path, {}, {"names": source}, carriers={"out": service}
        ) as manager:
            await manager.until(lambda status: any(each.waiting for each in status.carriers))
            source.data.clear()
            await asyncio.sleep(2.5)
            source.takes, source.data["item"] = 0.0, "new"
            await manager.until(lambda status: status.carriers[0].done == 1)
        assert service.texts == ['"new"']

    asyncio.run(scenario())


class Locked(Shared):
    """Some of its items can't be read."""

    async def get(self, name: str) -> str:
        if name.startswith("locked"):
            raise SourceError("it is locked")
        return await super().get(name)


def test_what_a_source_does_not_give_says_nothing_about_the_service(tmp_path: Path) -> None:
    """That is asked less and less often all the same, and goes on being said."""

    async def scenario() -> None:
        names = {f"locked {number}": 0 for number in range(30)} | {"good": 1}
        service = Service(down=True)
        periods = replace(QUICK, refused=0.1, refused_limit=60.0, backoff=0.2, backoff_limit=0.2)
        carriers = {"out": service}
        sources = {"names": Locked(names)}
        async with managed(publishing(), tmp_path, {}, sources, periods, carriers) as manager:
            await manager.until(lambda status: service.asked > 0)
            await asyncio.sleep(2.0)
            assert service.asked <= 6  # 0.1, 0.2, 0.4 … s
            assert manager.status().carriers[0].blocked == "the service is down"

    asyncio.run(scenario())
