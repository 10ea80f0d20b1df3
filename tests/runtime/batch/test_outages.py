"""A broker that is killed, hangs or is cut off while the pods of a batch work off what it has."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.batch_pod import BatchPod, Journal, MakePod, wait
from support.cable import cable
from support.queues import Queue, RabbitQueue, RedisList, RedisStream
from support.rabbitmq_server import rabbitmq_server
from support.redis_server import redis_server

WORDS = [f"w{number}" for number in range(200)]
PODS = 3
PERIODS = "request=3 hold=8"
HEARTBEAT = "heartbeat=1"
"""With it, both sides of a connection to RabbitMQ give up within seconds."""


@pytest.fixture(params=["redis_list", "redis_stream", "rabbitmq"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as things:
        yield things


def restarted(kind: str, folder: Path, stack: ExitStack) -> tuple[Queue, Callable[[], object]]:
    """A queue of a broker of its own, and what kills that one and starts it again."""
    if kind == "rabbitmq":
        rabbit = stack.enter_context(rabbitmq_server(folder))
        rabbit.declare("words")
        return RabbitQueue(rabbit, "words"), lambda: (rabbit.kill(), rabbit.start())
    redis = stack.enter_context(redis_server(folder))
    return (RedisList if kind == "redis_list" else RedisStream)(redis, "words"), lambda: (
        redis.kill(),
        time.sleep(2),
        redis.start(),
    )


def cut_off(kind: str, folder: Path, stack: ExitStack) -> tuple[Queue, Callable[[], object]]:
    """For longer than either side waits for a sign of life of the other."""
    way = stack.enter_context(cable())
    there = {"host": way.address, "prefix": way.prefix}

    def cut() -> None:
        way.pull()
        time.sleep(12)
        way.plug()

    if kind == "rabbitmq":
        rabbit = stack.enter_context(rabbitmq_server(folder, **there))
        rabbit.declare("words")
        return RabbitQueue(rabbit, "words", query=HEARTBEAT), cut
    redis = stack.enter_context(redis_server(folder, **there))
    return (RedisList if kind == "redis_list" else RedisStream)(redis, "words"), cut


@pytest.mark.parametrize("outage", [restarted, cut_off])
def test_an_outage_in_the_middle_of_a_batch(
    outage: Callable[[str, Path, ExitStack], tuple[Queue, Callable[[], object]]],
    kind: str,
    stack: ExitStack,
    pod: MakePod,
    journal: Journal,
    tmp_path: Path,
) -> None:
    queue, happen = outage(kind, tmp_path / "broker", stack)
    queue.put(*WORDS)

    def started(index: int) -> BatchPod:
        each = pod(queue, "--kind=fine", "--retries=0", "--wait=600", index=index, periods=PERIODS)
        return each.start(journal.worker("sleep 0.2"), "--stdin")

    watcher = started(0)
    workers = [started(index) for index in range(1, 1 + PODS)]
    wait("some are done", lambda: len(journal.words()) >= 10)
    wait("index 0 has seen some", lambda: "messages are left" in watcher.said())
    happen()
    # all of it, though some pods may have nothing to do any more
    assert watcher.exit_code() == 0, watcher.said()
    assert set(journal.words()) == set(WORDS)
    # what a pod had when that happened, and what it could not say that it was done with
    assert len(journal.words()) <= len(WORDS) + 2 * PODS
    assert queue.failed() == []
    wait("nothing is left", lambda: queue.left() == 0)
    for each in workers:
        assert each.wrapper.poll() is None, each.said()
        assert each.log()  # nothing but JSON
        assert any(text in each.said() for text in ("can't be reached", "gives no answer")), each.said()


def test_an_idle_pod_outlives_a_connection_without_a_sign_of_life(
    stack: ExitStack, pod: MakePod, journal: Journal, tmp_path: Path
) -> None:
    """Its client gives that up before the answer to what was asked is overdue."""
    server = stack.enter_context(rabbitmq_server(tmp_path / "rabbitmq"))
    server.declare("words")
    queue = RabbitQueue(server, "words", query=HEARTBEAT)
    idle = pod(queue, "--kind=coarse", "--retries=0", periods="request=60")
    idle.start(journal.worker(), "--stdin")
    server.hang(20)
    queue.put("apple")
    assert idle.exit_code() == 0, idle.said()
    said = [line["text"] for line in idle.log()]
    assert set(said[:-1]) == {"no message can be taken"}
    assert said[-1] == "the broker can be reached again"
    assert journal.words() == ["apple"]
