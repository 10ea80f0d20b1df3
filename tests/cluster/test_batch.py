"""Batches on a real node, over real brokers: the Job ends when nothing is left, whoever dies meanwhile."""

import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.image import Image
from cluster.interpreter import ENVIRONMENT, interpreter_layer, program
from cluster.outside import HERE, name_server
from cluster.real_node import RealNode
from cluster.system import System
from cluster.workers import shell_image
from support.command import wqc
from support.queues import RedisList
from support.rabbitmq_server import RabbitServer, rabbitmq_server
from support.redis_server import RedisServer, redis_server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SYSTEMS = Path(__file__).parent / "systems"
FRUIT = ["apple", "banana", "cherry", "date", "fig", "grape", "lemon", "melon"]


@pytest.fixture(scope="module")
def rabbitmq(runtime_node: RealNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitServer]:
    with rabbitmq_server(tmp_path_factory.mktemp("rabbitmq"), host=HERE) as server:
        yield server


@pytest.fixture(scope="module")
def redis(runtime_node: RealNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Without a password, as in the tutorial."""
    with redis_server(tmp_path_factory.mktemp("redis"), host=HERE, password="") as server:
        yield server


@pytest.fixture(scope="module")
def python(runtime_node: RealNode) -> None:
    """Under the examples' name."""
    name = "docker.io/library/python:3.13-alpine"
    runtime_node.load_image(Image([name], [interpreter_layer()], ["python3"], environment=ENVIRONMENT))


def job(system: System) -> dict[str, Any]:
    (found,) = system.listed("batch/v1/jobs")
    return found


def is_complete(system: System) -> bool:
    conditions = job(system)["status"].get("conditions", [])
    return any(each["type"] == "Complete" and each["status"] == "True" for each in conditions)


def wait_complete(system: System) -> None:
    system.wait("the Job is complete", lambda: is_complete(system), 300)


def said(system: System) -> dict[str, str]:
    """What each worker wrote, by pod; not those that are being taken away, as what waited for a word is."""
    pods = [pod["metadata"] for pod in system.listed("pods")]
    names = [pod["name"] for pod in pods if "deletionTimestamp" not in pod]
    return {name: system.kubectl("logs", name, "-c", "worker", "--ignore-errors") for name in names}


def serve(system: System, rabbitmq: RabbitServer) -> None:
    """As `rabbitmq` in the namespace, with the secret that the workflow names."""
    name_server(system, "rabbitmq", 5672, rabbitmq.port, (15672, rabbitmq.management_port))
    url = rabbitmq.url.replace(rabbitmq.brokers, "rabbitmq:5672")
    system.kubectl("create", "secret", "generic", "rabbitmq", f"--from-literal=url={url}")


def test_a_pod_for_each_word(
    runtime_node: RealNode, rabbitmq: RabbitServer, python: None, tmp_path: Path
) -> None:
    words = ("words", *FRUIT, "--create")
    filled = wqc("fill", EXAMPLES / "coarse.wq", *words, folder=tmp_path, RABBITMQ_URL=rabbitmq.url)
    assert filled.status == 0, filled.err
    with System(runtime_node, "coarse", tmp_path, {}) as system:
        serve(system, rabbitmq)
        system.apply(EXAMPLES / "coarse.wq")
        wait_complete(system)
        worked = re.findall(r"^Processing (\w+)$", "\n".join(said(system).values()), re.MULTILINE)
        assert Counter(worked) == Counter(FRUIT)
        # a pod each, and the one that measured
        assert job(system)["status"]["succeeded"] == len(FRUIT) + 1
    assert rabbitmq.get("job1") == []
    assert rabbitmq.get("job1.failed") == []


def test_two_pods_for_all_words(
    runtime_node: RealNode, redis: RedisServer, python: None, tmp_path: Path
) -> None:
    words = [f"{fruit}-{number}" for fruit in FRUIT for number in range(3)]
    redis.push("job2", words)
    with System(runtime_node, "fine", tmp_path, {}) as system:
        name_server(system, "redis", 6379, redis.port)
        system.apply(EXAMPLES / "fine.wq")
        system.wait("all was printed", lambda: sum(map(len, printed(system))) >= len(words))
        first, second = printed(system)
        assert sorted(first + second) == sorted(words)
        assert first
        assert second
        wait_complete(system)
    assert redis.client.exists("job2", "job2:fine.words:taken") == 0


def printed(system: System) -> list[list[str]]:
    """By the two pods that work. They are there until the Job is done, and then not any more."""
    texts = [re.findall(r"^Working on (\S+)$", text, re.MULTILINE) for text in said(system).values()]
    return sorted(texts)[-2:]


def test_completions_that_are_given(runtime_node: RealNode, rabbitmq: RabbitServer, tmp_path: Path) -> None:
    """In an image that has one file: no shell, no library, nothing of wqc."""
    (tmp_path / "image").mkdir()
    shutil.copy(
        program("busybox", "busybox, statically linked (Debian: busybox-static)"), tmp_path / "image/cat"
    )
    runtime_node.load_image(Image(["registry.example.com/cat:1"], [tmp_path / "image"], ["/cat"]))
    rabbitmq.declare("three", "classic")
    rabbitmq.put("three", "one", "two", "three")
    with System(runtime_node, "counted", tmp_path, {}) as system:
        serve(system, rabbitmq)
        system.apply(SYSTEMS / "counted.wq")
        wait_complete(system)
        assert Counter(said(system).values()) == {"one": 1, "two": 1, "three": 1}
        assert job(system)["status"]["succeeded"] == 3
    assert rabbitmq.get("three") == []


def test_whoever_dies_every_chore_is_done_once(
    runtime_node: RealNode, redis: RedisServer, tmp_path: Path
) -> None:
    shell_image(runtime_node, "registry.example.com/clerk:1", tmp_path / "image")
    out = tmp_path / "out-volume"
    chores = RedisList(redis, "chores")
    chores.put("long", "impossible", *FRUIT)
    with System(runtime_node, "chores", tmp_path, {"out": out}) as system:
        name_server(system, "redis", 6379, redis.port)
        system.apply(SYSTEMS / "chores.wq")

        def hosts(chore: str) -> list[str]:
            """Of the pods that began it, each named after its index."""
            lines = (out / "begun").read_text().splitlines() if (out / "begun").exists() else []
            return [line.split()[1] for line in lines if line.startswith(f"{chore} ")]

        def wait_begun(times: int) -> str:
            system.wait(f"the long chore is begun {times} times", lambda: len(hosts("long")) == times)
            return hosts("long")[-1]

        # lost without a word: another pod has it once the lease is over
        system.kubectl("delete", "pod", pod_at(system, wait_begun(1)), "--grace-period=0", "--force")
        kill_sidecar(wait_begun(2))
        # told to end: it gives back what it has
        system.kubectl("delete", "pod", pod_at(system, wait_begun(3)), "--wait=false")
        wait_begun(4)
        (out / "go").touch()
        wait_complete(system)
        assert len(hosts("long")) == 4
        assert len(hosts("impossible")) == 2
        assert Counter((out / "done").read_text().split()) == Counter(["long", *FRUIT])
    assert chores.failed() == ["impossible"]
    assert redis.client.exists("chores", "chores:chores.list:taken") == 0


def pod_at(system: System, host: str) -> str:
    running = [pod for pod in system.listed("pods") if pod["status"]["phase"] == "Running"]
    (found,) = (pod["metadata"]["name"] for pod in running if pod["spec"]["hostname"] == host)
    return found


def kill_sidecar(host: str) -> None:
    """Its process, as the kernel does when memory runs out."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"batch" in words and f"HOSTNAME={host}".encode() in environment:
            os.kill(int(process.name), signal.SIGKILL)
            return
    raise AssertionError(f"{host} has no sidecar")
