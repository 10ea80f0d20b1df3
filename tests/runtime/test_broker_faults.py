"""A workflow over a message queue whose broker is killed in the middle of its work, or hangs."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from support.filled import ITEMS, Filled, kafka, rabbitmq, redis_list, redis_stream
from support.localrun import QUICK, jobs, queue_files, until_idle
from support.opened import opened
from support.rabbitmq_server import RabbitServer
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status

PERIODS = replace(QUICK, request=6.0, refused_limit=0.5)


async def worked_off(broker: Filled, folder: Path, disturb: Callable[[], object]) -> tuple[Status, set[str]]:
    """The end, and all that the status has said of the source. Disturbed when two fifths are done."""
    workflow = Workflow("test")
    workflow.queue("notes", workflow.source("words"))
    files = {"notes": queue_files("notes", "true", at_once=8)}
    said: set[str] = set()
    disturbing: list[asyncio.Future[object]] = []

    def watch(status: Status) -> None:
        said.update(each.problem for each in status.sources)
        if not disturbing and status.queues and status.queues[0].done >= ITEMS * 2 // 5:
            disturbing.append(asyncio.get_running_loop().run_in_executor(None, disturb))

    async with opened(broker.kind, PERIODS, workflow="test", name="numbers", **broker.options) as source:
        status = await until_idle(workflow, folder, files, {"words": source}, 240, watch, PERIODS)
    await disturbing[0]
    return status, said


@pytest.mark.parametrize("filled", [redis_list, redis_stream, rabbitmq, kafka])
def test_a_broker_killed_in_the_middle(
    tmp_path: Path, filled: Callable[[Path], AbstractContextManager[Filled]]
) -> None:
    def kill_and_start() -> None:
        broker.server.kill()
        time.sleep(2)
        broker.server.start()

    with filled(tmp_path) as broker:
        status, said = asyncio.run(worked_off(broker, tmp_path / "state", kill_and_start))
        assert (status.queues[0].done, status.queues[0].failed) == (ITEMS, 0)
        assert any("can't be reached: Connection refused" in text for text in said), said
        assert not status.sources[0].problem
        assert len({job["name"] for job in jobs(tmp_path / "state")}) == ITEMS
        assert broker.left() == 0


def test_a_broker_that_hangs(tmp_path: Path) -> None:
    """Its process is stopped, as by a machine that swaps."""

    def pause() -> None:
        assert broker.server.process
        os.kill(broker.server.process.pid, signal.SIGSTOP)
        time.sleep(5)
        os.kill(broker.server.process.pid, signal.SIGCONT)

    with redis_list(tmp_path) as broker:
        status, said = asyncio.run(worked_off(broker, tmp_path / "state", pause))
        assert status.queues[0].done == ITEMS
        assert any("gives no answer" in text for text in said), said
        assert broker.left() == 0


def test_a_worker_that_is_slower_than_the_broker_allows(tmp_path: Path) -> None:
    """What is delivered again is the same item: it goes on where it is, and is worked on once."""
    log = tmp_path / "log"

    async def run(broker: Filled) -> tuple[Status, set[str]]:
        workflow = Workflow("test")
        workflow.queue("notes", workflow.source("numbers", ack="on_done"))
        script = f'sleep 12; cat "$WORK_ITEM_FILE" >> {log}; echo >> {log}'
        said: set[str] = set()

        def watch(status: Status) -> None:
            said.update(each.problem for each in status.sources)

        async with opened(broker.kind, PERIODS, workflow="test", name="numbers", **broker.options) as source:
            files = {"notes": queue_files("notes", script, at_once=6)}
            sources = {"numbers": source}
            return await until_idle(workflow, tmp_path / "s", files, sources, 120, watch, PERIODS), said

    with rabbitmq(tmp_path) as broker:
        assert isinstance(broker.server, RabbitServer)
        broker.server.evaluate("application:set_env(rabbit, consumer_timeout, 5000).")
        broker.server.ask("DELETE", "/queues/%2F/jobs/contents")
        broker.server.put("jobs", *map(str, range(6)))
        status, said = asyncio.run(run(broker))
        assert (status.queues[0].done, status.queues[0].failed) == (6, 0)
        assert sorted(log.read_text().split()) == list("012345")
        assert any("messages of jobs are delivered again" in text for text in said), said
        assert broker.left() == 0
