"""What leaves a workflow by a carrier to a real Kafka, with the manager of this machine."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.kafka import Kafka, kafka_server
from support.localrun import QUICK, managed, queue_files, recorded
from wqc.contract.settings import CarrierSettings
from wqc.runtime.carriers.carrier import NotAccepted
from wqc.runtime.carriers.opening import open_carrier
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.stores.local.store import LocalStore

NUMBERS = {f"n{number}": number for number in range(30)}


def direct() -> Workflow:
    workflow = Workflow("direct")
    workflow.carrier("out", workflow.source("numbers"))
    return workflow


def after_a_queue() -> Workflow:
    workflow = Workflow("after")
    workflow.carrier("out", workflow.queue("work", workflow.source("numbers")))
    return workflow


async def run(
    workflow: Workflow,
    state: Path,
    items: Mapping[str, Any],
    options: Mapping[str, Any],
    until: Callable[[Status], bool] = lambda status: status.idle,
    watch: Callable[[Status], None] = lambda status: None,
) -> Status:
    files = {"work": queue_files("work", "true")} if workflow.queues else {}
    carrier = open_carrier(CarrierSettings("out", "kafka", dict(options)), QUICK)

    def holds(status: Status) -> bool:
        found = until(status)
        if not found:
            watch(status)
        return found

    sources = {"numbers": dict(items)}
    try:
        async with managed(workflow, state, files, sources, carriers={"out": carrier}) as manager:
            return await manager.until(holds, 90)
    finally:
        await carrier.close()


def sent(kafka: Kafka, topic: str) -> Counter[str]:
    return Counter(headers["wqc-item"] for headers, _ in kafka.messages(topic))


def test_what_a_source_lists_for_ever_is_published_once(kafka: Kafka, tmp_path: Path) -> None:
    kafka.create("once", 3)
    options = {"brokers": kafka.brokers, "topic": "once"}
    status = asyncio.run(run(direct(), tmp_path, NUMBERS, options))
    assert [(each.waiting, each.done, each.blocked) for each in status.carriers] == [(0, 30, "")]
    asyncio.run(run(direct(), tmp_path, NUMBERS | {"more": 1}, options))
    assert sent(kafka, "once") == Counter([*NUMBERS, "more"])
    assert set(recorded(tmp_path, "out").values()) == {1}


def test_what_is_too_large_stays_where_it_is_and_is_said(kafka: Kafka, tmp_path: Path) -> None:
    kafka.create("few", max_message_bytes="1000")
    options = {"brokers": kafka.brokers, "topic": "few"}
    items = {"large": "x" * 2000, **NUMBERS}

    def published(status: Status) -> bool:
        return any(each.done == 30 and each.blocked for each in status.carriers)

    status = asyncio.run(run(after_a_queue(), tmp_path, items, options, published))
    (carrier,) = status.carriers
    assert carrier.blocked.startswith(f"large: it isn't accepted: {kafka.brokers} finds it too large")
    assert not status.idle
    assert [queue.handing for queue in status.queues] == [1]
    assert sent(kafka, "few") == Counter(list(NUMBERS))


def test_a_broker_that_is_gone_for_a_while(tmp_path: Path) -> None:
    """Finished Jobs are not done until it has their items."""
    said: set[str] = set()

    def look(status: Status) -> None:
        said.update(each.blocked for each in status.carriers)

    def waits(status: Status) -> bool:
        return any(each.handing == 30 for each in status.queues) and any(
            each.blocked for each in status.carriers
        )

    with kafka_server(tmp_path / "kafka") as kafka:
        kafka.create("gone", 3)
        options = {"brokers": kafka.brokers, "topic": "gone"}
        kafka.kill()
        status = asyncio.run(run(after_a_queue(), tmp_path / "state", NUMBERS, options, waits))
        assert [each.blocked for each in status.carriers] == [
            f"{kafka.brokers} can't be reached: Connection refused"
        ]
        assert not recorded_if_any(tmp_path / "state")
        kafka.start()
        asyncio.run(run(after_a_queue(), tmp_path / "state", NUMBERS, options, watch=look))
        assert sent(kafka, "gone").keys() == NUMBERS.keys()
        assert recorded(tmp_path / "state", "work").total() == 30


def test_the_members_of_a_bundle_under_their_names(kafka: Kafka, tmp_path: Path) -> None:
    kafka.create("members")
    workflow = Workflow("members")
    shards = workflow.sharder("shard", workflow.source("numbers"), key="item.name", shards=["a", "b"])
    workflow.carrier("out", shards)
    options = {"brokers": kafka.brokers, "topic": "members"}
    asyncio.run(run(workflow, tmp_path / "shards", NUMBERS, options))
    assert sent(kafka, "members") == Counter(list(NUMBERS))

    kafka.create("lanes")
    each = Workflow("lanes")
    split = each.splitter("split", each.source("numbers"), {"low": "item.data < 10"}, otherwise="drop")
    each.carrier("out", each.merger("all", {"low": split["low"]}))
    asyncio.run(run(each, tmp_path / "lanes", NUMBERS, {"brokers": kafka.brokers, "topic": "lanes"}))
    assert sent(kafka, "lanes") == Counter(f"low:n{number}" for number in range(10))


def test_the_data_is_what_the_queue_made_of_it(kafka: Kafka, tmp_path: Path) -> None:
    kafka.create("data")
    asyncio.run(
        run(after_a_queue(), tmp_path, {"a b/c": {"x": "é"}}, {"brokers": kafka.brokers, "topic": "data"})
    )
    ((headers, body),) = kafka.messages("data")
    assert headers == {"wqc-item": "a b/c"}
    assert json.loads(body or b"") == {"x": "é"}


def recorded_if_any(state: Path) -> Counter[bytes]:
    return recorded(state, "work") if (state / "ledger" / "work").exists() else Counter()


def test_an_item_that_is_due_again_while_the_record_is_written(tmp_path: Path) -> None:
    """A carrier has no Jobs, whose events would wake it."""

    class Reluctant:
        def __init__(self) -> None:
            self.tries = 0

        async def publish(self, name: str, version: str, text: str) -> None:
            self.tries += name == "late"
            if name == "late" and self.tries < 3:
                raise NotAccepted("not yet")

        async def close(self) -> None:
            pass

    class Slow(LocalStore):
        async def add_segment(self, *given: Any) -> None:
            await asyncio.sleep(0.5)
            await super().add_segment(*given)

    async def scenario() -> None:
        workflow = Workflow("late")
        workflow.carrier("out", workflow.source("names"))
        carrier = Reluctant()
        periods = replace(QUICK, backoff=0.5, backoff_limit=10.0, flush=1.4)  # 0.5 and 1.0 are over at 1.5
        names = ["late", "a", "b"]
        store = Slow(tmp_path, {})
        async with managed(workflow, tmp_path, store, {"names": names}, periods, {"out": carrier}) as manager:
            await manager.until(lambda status: status.idle)
        assert carrier.tries == 3

    asyncio.run(scenario())
