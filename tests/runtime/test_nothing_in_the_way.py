"""What was refused is said no longer once it is done, or nothing asks for it any more."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.localrun import managed, queue_files, until_idle
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Refused


class Full(LocalStore):
    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        raise Refused("exceeded quota")


class Down:
    async def publish(self, name: str, version: str, text: str) -> None:
        raise SourceError("the service is down")

    async def close(self) -> None:
        pass


def of_the_queue(status: Status) -> str:
    return status.queues[0].blocked


def of_the_node(status: Status) -> str:
    return status.nodes[-1].blocked


def of_the_carrier(status: Status) -> str:
    return status.carriers[0].blocked


@pytest.mark.parametrize("blocked", [of_the_queue, of_the_node, of_the_carrier])
def test_the_item_is_gone(tmp_path: Path, blocked: Callable[[Status], str]) -> None:
    async def scenario() -> None:
        workflow = Workflow("gone")
        stream = workflow.source("names")
        if blocked is of_the_carrier:
            workflow.carrier("out", stream)
        else:
            workflow.queue("work", workflow.filter("some", stream, "item.data > 0"))
        source = Shared({"item": "no number" if blocked is of_the_node else 1})
        store = Full(tmp_path, {"work": queue_files("work", "true")})
        carriers = {"out": Down()} if blocked is of_the_carrier else {}
        async with managed(workflow, tmp_path, store, {"names": source}, carriers=carriers) as manager:
            await manager.until(lambda status: status.sources and blocked(status))
            source.data.clear()
            await manager.until(lambda status: not blocked(status), 10)

    asyncio.run(scenario())


class BusyOnce(LocalStore):
    asked = 0

    async def forget_template(self, queue: str, digest: str) -> None:
        self.asked += 1
        if self.asked == 1:
            raise Refused("too many requests")
        await super().forget_template(queue, digest)


def test_it_is_done(tmp_path: Path) -> None:
    workflow = Workflow("done")
    workflow.queue("work", workflow.source("names"))
    asyncio.run(until_idle(workflow, tmp_path, {"work": queue_files("work", ":")}, {"names": ["first"]}))

    async def scenario() -> None:
        store = BusyOnce(tmp_path, {"work": queue_files("work", "true")})
        async with managed(workflow, tmp_path, store, {"names": ["first"]}) as manager:
            await manager.until(lambda status: store.asked == 2)
            await manager.until(lambda status: not status.queues[0].blocked, 10)

    asyncio.run(scenario())
