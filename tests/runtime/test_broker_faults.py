"""A workflow over a message queue whose broker is killed in the middle, hangs, refuses, or has no such queue;
and odd messages.
"""

import asyncio
import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import aio_pika
import pytest

from support.cable import cable
from support.filled import ITEMS, Filled, kafka, rabbitmq, redis_list, redis_stream
from support.kafka import Kafka, kafka_server
from support.localrun import QUICK, jobs, queue_files, recorded, until_idle
from support.opened import opened
from support.rabbitmq_server import RabbitServer, rabbitmq_server
from support.redis_server import PASSWORD, RedisServer, redis_server
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status

PERIODS = replace(QUICK, request=6.0, refused_limit=0.5)
KINDS = ("redis_list", "redis_stream", "rabbitmq", "kafka")


async def worked_off(
    broker: Filled, folder: Path, disturb: Callable[[], object], script: str = "true", items: int = ITEMS
) -> tuple[Status, set[str]]:
    """The end, and all that the status has said of the source. Disturbed when two fifths are done."""
    workflow = Workflow("test")
    workflow.queue("notes", workflow.source("words"))
    files = {"notes": queue_files("notes", script, at_once=8)}
    said: set[str] = set()
    disturbing: list[asyncio.Future[object]] = []

    def watch(status: Status) -> None:
        said.update(each.problem for each in status.sources)
        if not disturbing and status.queues and status.queues[0].done >= items * 2 // 5:
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
        all_are_recorded_once(tmp_path / "state", ITEMS)
        assert broker.left() == 0


@pytest.mark.parametrize(
    ("filled", "options"),
    [(redis_list, {}), (redis_stream, {}), (rabbitmq, {"query": "heartbeat=1"}), (kafka, {})],
    ids=KINDS,
)
def test_a_network_that_is_cut_for_longer_than_both_sides_wait(
    tmp_path: Path, filled: Callable[..., AbstractContextManager[Filled]], options: dict[str, str]
) -> None:
    log, state = tmp_path / "log", tmp_path / "state"

    def cut() -> None:
        way.pull()
        time.sleep(20)
        way.plug()

    with (
        cable() as way,
        filled(tmp_path, host=way.address, prefix=way.prefix, **options) as broker,
    ):
        status, said = asyncio.run(
            worked_off(broker, state, cut, f'echo "$(cat "$WORK_ITEM_FILE")" >> {log}')
        )
        assert (status.queues[0].done, status.queues[0].failed) == (ITEMS, 0)
        assert any("can't be reached" in text or "gives no answer" in text for text in said), said
        assert not status.sources[0].problem
        # one Job and one worker for each, whatever came twice
        assert Counter(log.read_text().splitlines()) == Counter(f'{{"n":{n}}}' for n in range(ITEMS))
        all_are_recorded_once(state, ITEMS)
        assert broker.left() == 0


def test_a_broker_that_hangs(tmp_path: Path) -> None:
    """Its process is stopped, as by a machine that swaps."""

    def pause() -> None:
        assert broker.server.process
        os.kill(broker.server.process.pid, signal.SIGSTOP)
        time.sleep(9)
        os.kill(broker.server.process.pid, signal.SIGCONT)

    with redis_list(tmp_path) as broker:
        status, said = asyncio.run(worked_off(broker, tmp_path / "state", pause))
        assert status.queues[0].done == ITEMS
        all_are_recorded_once(tmp_path / "state", ITEMS)
        assert any("gives no answer" in text for text in said), said
        assert broker.left() == 0


def test_a_worker_that_is_slower_than_the_broker_allows(tmp_path: Path) -> None:
    """What is delivered again is the same item: it goes on where it is, and is worked on once."""
    log = tmp_path / "log"

    async def run(broker: Filled) -> tuple[Status, set[str]]:
        workflow = Workflow("test")
        workflow.queue("notes", workflow.source("numbers", ack="on_done"))
        script = f'sleep 12; echo "$(cat "$WORK_ITEM_FILE")" >> {log}'
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
        all_are_recorded_once(tmp_path / "s", 6)
        assert any("messages of jobs are delivered again" in text for text in said), said
        assert broker.left() == 0


def all_are_recorded_once(state: Path, count: int) -> None:
    found = recorded(state, "notes")
    assert set(found.values()) == {1}
    assert len(found) == count


FEW = 60


def noted(log: Path) -> str:
    """A worker that takes its time, and for the first item so much that the others' end isn't the run's."""
    return f"""item=$(cat "$WORK_ITEM_FILE")
        case $item in *:0\\}}) sleep 8 ;; *) sleep 0.6 ;; esac
        echo "$item" >> {log}"""


def worked_on(log: Path) -> Counter[int]:
    return Counter(json.loads(line)["n"] for line in log.read_text().splitlines())


@pytest.mark.parametrize(
    "filled",
    [redis_list, redis_stream, rabbitmq, partial(kafka, guarded=True)],
    ids=KINDS,
)
def test_a_password_that_is_wrong_for_a_while(
    tmp_path: Path, filled: Callable[..., AbstractContextManager[Filled]]
) -> None:
    """As when it is changed on one side and then on the other."""

    def change() -> None:
        secret, other = tmp_path / "secret", tmp_path / "other"
        right = secret.read_text()
        for text in (right.replace("wor", "w0r"), right):
            other.write_text(text)
            other.replace(secret)  # as a mounted Secret is: never half of it
            broker.drop()
            time.sleep(2)

    log, state = tmp_path / "log", tmp_path / "state"
    with filled(tmp_path, FEW) as broker:
        status, said = asyncio.run(worked_off(broker, state, change, noted(log), FEW))
        assert (status.queues[0].done, status.queues[0].failed) == (FEW, 0)
        assert any("refuses" in text and "or the password" in text for text in said), said
        assert not status.sources[0].problem
        # one Job and one worker for each, whatever was read twice
        assert worked_on(log) == Counter(range(FEW))
        assert set(recorded(state, "notes").values()) == {1}
        assert broker.left() == 0


@pytest.mark.parametrize(
    ("filled", "meanwhile", "went"),
    [
        (redis_list, "", ""),
        (
            redis_stream,
            "",
            r"the stream jobs was deleted: nothing is left of it\. Of (\d+) entries .* \1 are",
        ),
        (
            rabbitmq,
            "has no queue jobs",
            r"the queue jobs was deleted; (\d+) messages that were held of it are",
        ),
        (kafka, "there is no topic jobs", r"the topic jobs was deleted and made anew, with (\d+) messages"),
    ],
    ids=KINDS,
)
def test_a_queue_that_is_deleted_in_the_middle_and_made_anew(
    tmp_path: Path, filled: Callable[..., AbstractContextManager[Filled]], meanwhile: str, went: str
) -> None:
    """`went`: what is said of those that were held. A Redis list that is deleted is one that is empty."""

    def delete_and_make() -> None:
        broker.delete()
        time.sleep(2)
        broker.put(range(FEW, FEW + 20))

    log, state = tmp_path / "log", tmp_path / "state"
    with filled(tmp_path, FEW) as broker:
        status, said = asyncio.run(worked_off(broker, state, delete_and_make, noted(log), FEW))
        assert any(meanwhile in text for text in said), said
        kept = [int(found[1]) for text in said if went and (found := re.search(went, text))]
        assert bool(kept) == bool(went), said
        held_by_the_old_and_all_of_the_new(broker, state, status, worked_on(log), sum(kept))


@pytest.mark.parametrize("filled", [redis_list, redis_stream])
def test_a_server_that_forgets_everything_in_the_middle(
    tmp_path: Path, filled: Callable[..., AbstractContextManager[Filled]]
) -> None:
    """What is lost is said; what was held is worked on, and what comes later."""

    def restart() -> None:
        broker.server.kill()
        broker.server.start()
        time.sleep(2)
        broker.put(range(FEW, FEW + 20))

    log, state = tmp_path / "log", tmp_path / "state"
    with filled(tmp_path, FEW, persistent=False) as broker:
        status, said = asyncio.run(worked_off(broker, state, restart, noted(log), FEW))
        kept = [int(found[1]) for text in said if (found := re.search(r"(\d+) are kept", text))]
        assert any("has lost data, as after a restart without persistence" in text for text in said), said
        held_by_the_old_and_all_of_the_new(broker, state, status, worked_on(log), sum(kept))


def held_by_the_old_and_all_of_the_new(
    broker: Filled, state: Path, status: Status, worked: Counter[int], kept: int
) -> None:
    """Items from FEW on were put on it later. Each was worked on once, and is recorded; nothing is stuck."""
    assert set(worked.values()) == {1}
    assert set(range(FEW, FEW + 20)) <= worked.keys()
    assert len(worked.keys() & set(range(FEW))) >= FEW * 2 // 5 + kept
    assert (status.queues[0].done, status.queues[0].failed) == (len(worked), 0)
    assert set(recorded(state, "notes").values()) == {1}
    assert recorded(state, "notes").total() == len(worked)
    assert broker.left() == 0


ODD = (b'{"n": 1}', b'{"n": 1}', b"{not json", b'"%b"' % (b"x" * (800 << 10)), b'"%b"' % (b"x" * (1 << 20)))


def push(server: RedisServer) -> None:
    server.push("jobs", ODD)


def add(server: RedisServer) -> None:
    server.add("jobs", ({"body": body} for body in ODD))


def produce(server: Kafka) -> None:
    server.create("jobs", max_message_bytes=str(2 << 20))
    server.send("jobs", ODD)


def send(server: RabbitServer) -> None:
    async def run() -> None:
        async with await aio_pika.connect(server.url) as connection:
            channel = await connection.channel()
            for number, body in enumerate(ODD):
                message = aio_pika.Message(body, message_id=str(number))
                await channel.default_exchange.publish(message, "jobs")

    server.declare("jobs")
    asyncio.run(run())


@pytest.mark.parametrize(
    ("kind", "start", "fill"),
    [
        ("redis_list", redis_server, push),
        ("redis_stream", redis_server, add),
        ("rabbitmq", rabbitmq_server, send),
        ("kafka", kafka_server, produce),
    ],
)
def test_equal_poisonous_and_large_messages(
    tmp_path: Path, kind: str, start: Callable[..., AbstractContextManager[Any]], fill: Callable[[Any], None]
) -> None:
    """Each ends where it belongs."""

    async def run(options: dict[str, Any]) -> Status:
        workflow = Workflow("odd")
        words = workflow.source("words")
        workflow.queue("work", words)
        workflow.queue("look", words.failed)
        files = {"work": queue_files("work", "true"), "look": queue_files("look", "true")}
        async with opened(kind, PERIODS, workflow="odd", name="words", **options) as source:
            status = await until_idle(
                workflow, tmp_path / "s", files, {"words": source}, 120, periods=PERIODS
            )
            # what is too large for a Job is its broker's until a person says what becomes of it
            (left,) = (await source.list()).versions
            assert len(await source.get(left)) > 1 << 20
            return status

    with start(tmp_path / "broker") as server:
        fill(server)
        (tmp_path / "secret").write_text(server.url if kind == "rabbitmq" else PASSWORD)
        auth = {"auth": {"file": str(tmp_path / "secret")}}
        where = {
            "redis_list": lambda: {"brokers": server.address, "key": "jobs", **auth},
            "redis_stream": lambda: {"brokers": server.address, "key": "jobs", **auth},
            "rabbitmq": lambda: {"brokers": server.brokers, "queue": "jobs", **auth},
            "kafka": lambda: {"brokers": server.brokers, "topic": "jobs"},
        }
        work, look = asyncio.run(run(where[kind]())).queues
    assert (work.done, work.failed, look.done, look.failed) == (3, 1, 1, 0), (work, look)
    assert work.failures[0].reason.startswith("its data is 10485"), work.failures
