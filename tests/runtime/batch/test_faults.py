"""What a batch's pods do when a broker fails them, and with messages that aren't plain words."""

import hashlib
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from support.batch_pod import Journal, MakePod, wait
from support.queues import Queue, RabbitQueue, RedisList
from support.rabbitmq_server import RabbitServer, rabbitmq_server
from support.redis_server import RedisServer, redis_server

COARSE = ("--kind=coarse", "--retries=0")


def until(path: Path) -> str:
    """In a shell."""
    return f"while [ ! -e {path} ]; do sleep 0.05; done"


@pytest.mark.parametrize("queue", ["redis_list", "redis_stream"], indirect=True)
def test_a_pod_that_was_silent_for_too_long_has_lost_its_message(
    queue: Queue, pod: MakePod, journal: Journal, tmp_path: Path
) -> None:
    queue.put("apple")
    silent = pod(queue, *COARSE).start(journal.worker(until(tmp_path / "go")), "--stdin")
    wait("it is worked on", lambda: journal.words() == ["apple"])
    silent.sidecar.send_signal(signal.SIGSTOP)
    other = pod(queue, *COARSE).start(journal.worker(), "--stdin")
    assert other.exit_code() == 0
    silent.sidecar.send_signal(signal.SIGCONT)
    (tmp_path / "go").touch()
    wait("it says so", lambda: "a message that was done is lost" in silent.said())
    # its own work counts for nothing: it takes another message
    queue.put("banana")
    assert silent.exit_code() == 0
    assert journal.words() == ["apple", "apple", "banana"]
    wait("nothing is left", lambda: queue.left() == 0)


def test_redis_restarted_in_the_middle(pod: MakePod, journal: Journal, tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis") as server:
        queue = RedisList(server, "words")
        queue.put("apple")
        single = pod(queue, *COARSE, periods="hold=60").start(
            journal.worker(until(tmp_path / "go")), "--stdin"
        )
        wait("it is worked on", lambda: journal.words() == ["apple"])
        server.kill()
        server.start()
        (tmp_path / "go").touch()
        assert single.exit_code() == 0, single.said()
        assert journal.words() == ["apple"]
        assert queue.left() == 0


def test_redis_that_lost_its_data(pod: MakePod, journal: Journal, tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis", persistent=False) as server:
        queue = RedisList(server, "words")
        queue.put("apple")
        single = pod(queue, *COARSE).start(journal.worker(until(tmp_path / "go")), "--stdin")
        wait("it is worked on", lambda: journal.words() == ["apple"])
        server.kill()
        server.start()
        (tmp_path / "go").touch()
        wait("it says so", lambda: "or has lost its data" in single.said())
        assert single.wrapper.poll() is None


def test_rabbitmq_restarted_in_the_middle(pod: MakePod, journal: Journal, tmp_path: Path) -> None:
    with rabbitmq_server(tmp_path / "rabbitmq") as server:
        server.declare("words")
        queue = RabbitQueue(server, "words")
        queue.put("apple")
        single = pod(queue, *COARSE).start(journal.worker(until(tmp_path / "go")), "--stdin")
        wait("it is worked on", lambda: journal.words() == ["apple"])
        server.kill()
        server.start()
        (tmp_path / "go").touch()
        # done, but the broker was never told: it delivers the message again, and here it is done at once
        assert single.exit_code() == 0, single.said()
        assert journal.words() == ["apple", "apple"]
        wait("nothing is left", lambda: queue.left() == 0)


@pytest.mark.parametrize("queue", ["rabbitmq"], indirect=True)
def test_a_worker_that_takes_longer_than_rabbitmq_waits(
    rabbitmq: RabbitServer, queue: Queue, pod: MakePod, journal: Journal, tmp_path: Path
) -> None:
    rabbitmq.evaluate("application:set_env(rabbit, channel_tick_interval, 500).")
    rabbitmq.evaluate("application:set_env(rabbit, consumer_timeout, 1000).")
    try:
        queue.put("apple")
        slow = pod(queue, *COARSE).start(journal.worker(until(tmp_path / "go")), "--stdin")
        wait("the broker has lost patience", lambda: "is taken back while it is worked on" in slow.said())
        (tmp_path / "go").touch()
        assert slow.exit_code() == 0, slow.said()
        assert "a message that was done is lost" in slow.said()
        assert journal.words() == ["apple", "apple"]
    finally:
        rabbitmq.evaluate("application:set_env(rabbit, consumer_timeout, 1800000).")


@pytest.mark.parametrize("queue", ["rabbitmq"], indirect=True)
def test_a_classic_queue_for_what_failed(rabbitmq: RabbitServer, queue: Queue, pod: MakePod) -> None:
    assert isinstance(queue, RabbitQueue)
    rabbitmq.declare(f"{queue.name}.failed", "classic")
    queue.put("poison")
    failing = ["sh", "-c", 'echo why >"$WORK_RESULT_FILE"; exit 3']
    assert pod(queue, *COARSE).start(failing, "--stdin").exit_code() == 0
    (failed,) = rabbitmq.get(f"{queue.name}.failed")
    headers = failed["properties"]["headers"]
    assert (failed["payload"], headers["wqc-reason"], headers["wqc-message"], headers["wqc-attempts"]) == (
        "poison",
        "exit code 3",
        "why\n",
        1,
    )


def test_a_wrong_password_keeps_the_worker_from_starting(redis: RedisServer, pod: MakePod) -> None:
    queue = RedisList(redis, "words", environment={"REDIS_PASSWORD": "wrong"})
    refused = pod(queue, *COARSE)
    refused.start_sidecar()
    wait("it says so", lambda: "refuses the default user or the password" in refused.said())
    assert not refused.is_ready()
    refused.sidecar.send_signal(signal.SIGTERM)
    assert refused.sidecar.wait(30) == 0


# --- what messages are made of ---


@pytest.mark.parametrize("queue", ["redis_list", "rabbitmq"], indirect=True)
def test_json_has_its_fields_and_what_is_none_fails(queue: Queue, pod: MakePod, tmp_path: Path) -> None:
    queue = replace(queue, format="json")
    queue.put('{"to": "a b", "n": 3, "more": [1]}', "no JSON", '{"to": "c"}')
    command = f'cat "$WORK_ITEM_FILE" >>{tmp_path}/items; (cd "$WORK_ITEM_DIR"; head *) >>{tmp_path}/fields'
    assert pod(queue, "--kind=fine", "--retries=0").start(["sh", "-c", command]).exit_code() == 0
    assert (tmp_path / "items").read_text() == '{"to":"a b","n":3,"more":[1]}{"to":"c"}'
    # a field of one item isn't there for the next
    assert (tmp_path / "fields").read_text() == "==> n <==\n3\n==> to <==\na bc"
    assert queue.failed() == ["no JSON"]


@pytest.mark.parametrize("queue", ["redis_list"], indirect=True)
def test_bytes_reach_standard_input_as_they_were_sent(
    redis: RedisServer, queue: Queue, pod: MakePod, tmp_path: Path
) -> None:
    assert isinstance(queue, RedisList)
    queue = replace(queue, format="bytes")
    body = bytes(range(256)) * 4096
    redis.push(queue.key, [body])
    single = pod(queue, *COARSE).start(["sh", "-c", f"cat >{tmp_path}/body"], "--stdin")
    assert single.exit_code() == 0
    assert hashlib.sha256((tmp_path / "body").read_bytes()).digest() == hashlib.sha256(body).digest()
