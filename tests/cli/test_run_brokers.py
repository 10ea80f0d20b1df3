"""Workflows that read message queues of real brokers, with everything killed in the middle."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.ambassador import ambassador, source_settings
from support.kafka import kafka_server
from support.localrun import recorded
from support.rabbitmq_server import rabbitmq_server
from support.redis_server import PASSWORD, redis_server

PERIODS = "backoff=0.1 backoff_limit=0.5 flush=0.2 listing=0.3 retry_listing=0.1 refused_limit=0.5"
ITEMS = 500

WORKFLOW = """\
workflow jobs
source numbers: %s
worker note {
  image = "busybox:1.36"
  run   = '''
    echo "$(cat "$WORK_ITEM_DIR/n")" >> "$LOG"
    '''
}
queue notes { from = numbers, worker = note, parallelism = 12, env = { LOG = "%s" } }
""".replace("'''", '"""')


@dataclass(frozen=True)
class Filled:
    """A broker with the items `{"n": 0}`, `{"n": 1}`, … on it."""

    kind: str
    block: str
    """The source as the language has it."""
    options: dict[str, Any]
    """As an ambassador has it."""
    left: Callable[[], int]
    """How many messages nobody was done with."""


@contextmanager
def redis_list(folder: Path) -> Iterator[Filled]:
    with redis_server(folder / "redis") as server:
        server.push("jobs", (f'{{"n": {number}}}' for number in range(ITEMS)))
        options = {"brokers": server.address, "key": "jobs", "auth": password(folder, PASSWORD)}

        def left() -> int:
            held = server.client.hlen("jobs:test.numbers:held")
            return int(server.client.llen("jobs") + held)

        block = 'redis_list { brokers = "redis:6379", key = "jobs" }'
        yield Filled("redis_list", block, options, left)


@contextmanager
def redis_stream(folder: Path) -> Iterator[Filled]:
    with redis_server(folder / "redis") as server:
        server.add("jobs", ({"n": number} for number in range(ITEMS)))
        options = {"brokers": server.address, "key": "jobs", "auth": password(folder, PASSWORD)}

        def left() -> int:
            (group,) = server.client.xinfo_groups("jobs")
            return int(group["pending"]) + int(group["lag"] or 0)

        block = 'redis_stream { brokers = "redis:6379", key = "jobs" }'
        yield Filled("redis_stream", block, options, left)


@contextmanager
def rabbitmq(folder: Path) -> Iterator[Filled]:
    with rabbitmq_server(folder / "rabbitmq") as server:
        server.declare("jobs")
        server.put("jobs", *(f'{{"n": {number}}}' for number in range(ITEMS)))
        options = {
            "brokers": server.brokers,
            "queue": "jobs",
            "identity": "payload",
            "auth": password(folder, server.url),
        }

        def left() -> int:
            until = time.monotonic() + 30
            while (count := server.left("jobs")) and time.monotonic() < until:
                time.sleep(0.2)
            return count

        block = 'rabbitmq { brokers = "mq:5672", queue = "jobs", identity = payload }'
        yield Filled("rabbitmq", block, options, left)


@contextmanager
def kafka(folder: Path) -> Iterator[Filled]:
    (folder / "kafka").mkdir()
    with kafka_server(folder / "kafka") as server:
        server.create("jobs", 3)
        server.send("jobs", ({"n": number} for number in range(ITEMS)))
        options = {"brokers": server.brokers, "topic": "jobs"}

        def left() -> int:
            return ITEMS - sum(server.committed("jobs", "test.numbers").values())

        block = 'kafka { brokers = "kafka:9092", topic = "jobs" }'
        yield Filled("kafka", block, options, left)


def password(folder: Path, text: str) -> dict[str, str]:
    (folder / "secret").write_text(text)
    return {"file": str(folder / "secret")}


def start(folder: Path, url: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wqc", "run", "w.wq", "--until-empty", f"--source=numbers={url}"]
    environment = os.environ | {"WQC_PERIODS": PERIODS}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("filled", [redis_list, redis_stream, rabbitmq, kafka])
def test_managers_and_ambassadors_killed_in_the_middle_lose_nothing_and_record_nothing_twice(
    tmp_path: Path, filled: Any
) -> None:
    log = tmp_path / "log"
    chance = random.Random(7)

    def worked() -> int:
        return len(log.read_text().splitlines()) if log.exists() else 0

    with filled(tmp_path) as broker:
        (tmp_path / "w.wq").write_text(WORKFLOW % (broker.block, log))
        settings = source_settings(tmp_path / "settings", "numbers", broker.kind, **broker.options)
        text = (settings / "numbers" / "source.yaml").read_text()
        (settings / "numbers" / "source.yaml").write_text(f"{text}workflow: test\n")
        kills = 0
        while True:
            enough = min(ITEMS - 50, worked() + chance.randrange(60, 140))
            with ambassador(["source", "numbers"], settings, WQC_PERIODS=PERIODS) as source:
                running = start(tmp_path, source.url)
                until = time.monotonic() + 200
                while running.poll() is None and (kills == 4 or worked() < enough):
                    assert time.monotonic() < until, f"{worked()} of {ITEMS} are worked on"
                    time.sleep(0.05)
                if running.poll() is not None:
                    break
                if kills % 2:
                    source.process.kill()
                    time.sleep(chance.random())
                running.send_signal(signal.SIGKILL)
                running.communicate()
                kills += 1
        _, complaints = running.communicate()
        assert running.returncode == 0, complaints.decode()
        assert kills == 4
        assert {int(line) for line in log.read_text().splitlines()} == set(range(ITEMS))
        found = recorded(tmp_path / ".wqc" / "jobs", "notes")
        assert len(found) == ITEMS
        assert set(found.values()) == {1}
        assert broker.left() == 0
