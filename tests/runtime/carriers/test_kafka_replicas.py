"""Publishing to a Kafka of three brokers of which one is killed: what is marked, every replica has."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from support.kafka import Kafka, kafka_cluster
from support.localrun import QUICK, recorded, until_idle
from wqc.contract.names import item_hash
from wqc.contract.settings import CarrierSettings
from wqc.runtime.carriers.opening import open_carrier
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.source import SourceError

PERIODS = replace(QUICK, request=8.0)
BEFORE = [f"item-{number:03}" for number in range(40)]
ALL = [f"item-{number:03}" for number in range(200)]
PARTITIONS = 3
TOPICS = {"ours": "", "strict": "3", "usual": "2", "lax": "1"}
"""With the `min.insync.replicas` that others gave them; ours is made by its carrier."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[Kafka]]:
    with kafka_cluster(tmp_path_factory.mktemp("kafka"), 3, replica_lag_time_max_ms="2000") as running:
        yield running


def carried(
    brokers: str, state: Path, items: list[str], watch: Callable[[Status], None] = lambda status: None
) -> Status:
    """To each topic from a source that lists its items for ever, until all are published."""
    workflow = Workflow("w")
    for topic in TOPICS:
        workflow.carrier(topic, workflow.source(f"{topic}_items"))

    async def run() -> Status:
        carriers = {}
        for topic, least in TOPICS.items():
            options = {"brokers": brokers, "topic": topic}
            ours = {} if least else {"create": True, "partitions": PARTITIONS, "replication": 3}
            carriers[topic] = open_carrier(CarrierSettings(topic, "kafka", options | ours), PERIODS)
        try:
            sources = {f"{topic}_items": items for topic in TOPICS}
            return await until_idle(workflow, state, {}, sources, 120, watch, PERIODS, carriers)
        finally:
            for carrier in carriers.values():
                await carrier.close()

    return asyncio.run(run())


def marked(state: Path, topic: str) -> set[str]:
    found = recorded(state, topic)
    assert set(found.values()) == {1}
    return {name for name in ALL if item_hash(name, "") in found}


def replicated(nodes: Sequence[Kafka], topic: str) -> set[str]:
    """What is on the disk of each."""
    stored = [node.stored(topic) for node in nodes]
    return {name for name in ALL if all(name.encode() in each for each in stored)}


def test_nothing_is_marked_while_a_replica_is_out_of_step(nodes: Sequence[Kafka], tmp_path: Path) -> None:
    first, _, last = nodes
    brokers = ",".join(node.brokers for node in nodes)
    for topic, least in TOPICS.items():
        if least:
            first.create(topic, PARTITIONS, 3, min_insync_replicas=least)
    carried(brokers, tmp_path, BEFORE)
    assert first.config("ours")["min.insync.replicas"] == "3"
    for topic in TOPICS:
        assert marked(tmp_path, topic) == replicated(nodes, topic) == set(BEFORE)

    last.kill()
    said: dict[str, str] = {}
    """By topic, that of all of them a replica is out of step."""
    since = 0.0

    def watch(status: Status) -> None:
        nonlocal since
        for each in status.carriers:
            if "out of step with partitions 0, 1, 2" in each.blocked:
                said[each.carrier] = each.blocked
        if len(said) == len(TOPICS) and last.process is None:
            since = since or time.monotonic()
            if time.monotonic() > since + 2:
                for topic in TOPICS:
                    assert marked(tmp_path, topic) == set(BEFORE)
                last.launch()

    status = carried(brokers, tmp_path, ALL, watch)
    assert said == {
        topic: f"broker 3 is out of step with partitions 0, 1, 2 of {topic}: "
        "items wait until every replica has them"
        for topic in TOPICS
    }
    assert [(each.waiting, each.done, each.blocked) for each in status.carriers] == [(0, len(ALL), "")] * 4
    for topic in TOPICS:
        assert marked(tmp_path, topic) == replicated(nodes, topic) == set(ALL)
        sent = Counter(headers["wqc-item"] for headers, _ in first.messages(topic))
        assert sent.keys() == set(ALL)
        # what was under way when a broker fell behind, as a busy machine's do, and nothing while one was away
        assert max(sent.values()) <= 4, topic
    last.await_answer(3)


def test_more_replicas_than_brokers(nodes: Sequence[Kafka]) -> None:
    options = {"brokers": nodes[0].brokers, "topic": "many", "create": True, "replication": 4}

    async def work() -> None:
        carrier = open_carrier(CarrierSettings("out", "kafka", options), PERIODS)
        with pytest.raises(SourceError, match=r"the topic many can't be made: .*eplication factor"):
            await carrier.publish("a", "", "1")
        await carrier.close()

    asyncio.run(work())
