"""Publishing to a real Kafka: in the manager's process, and through an ambassador."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka import KafkaError

from support.ambassador import Ambassador, ambassador
from support.kafka import PASSWORD, USER, Kafka, kafka_server
from wqc.contract.settings import CarrierSettings
from wqc.runtime.carriers.carrier import Carrier, NotAccepted
from wqc.runtime.carriers.http import HttpCarrier
from wqc.runtime.carriers.kafka import KafkaCarrier
from wqc.runtime.carriers.opening import open_carrier
from wqc.runtime.periods import Periods
from wqc.runtime.sources.source import SourceError

PERIODS = Periods(request=20.0)
ODD = "a/b c%\u00e9\ud800"


def opened(kafka: Kafka, topic: str, **options: Any) -> Carrier:
    return open_carrier(
        CarrierSettings("c", "kafka", {"brokers": kafka.brokers, "topic": topic} | options), PERIODS
    )


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(120):
            await work()

    asyncio.run(bounded())


@pytest.fixture
def remote(kafka: Kafka, tmp_path: Path) -> Iterator[Ambassador]:
    (tmp_path / "photos").mkdir()
    options = {"brokers": kafka.brokers, "topic": "photos", "create": True, "replication": 1}
    text = yaml.safe_dump({"carrier": "photos", "kind": "kafka", "options": options})
    (tmp_path / "photos" / "carrier.yaml").write_text(text)
    with ambassador(["carrier", "photos"], tmp_path) as running:
        yield running


def test_an_item_is_there_when_publishing_returns(kafka: Kafka) -> None:
    kafka.create("published", 3)

    async def work() -> None:
        carrier = opened(kafka, "published")
        await asyncio.gather(*(carrier.publish(f"item {n}", f"v{n}", json.dumps(n)) for n in range(20)))
        found = kafka.messages("published")
        assert sorted(
            (headers["wqc-item"], headers["wqc-version"], json.loads(body or b"")) for headers, body in found
        ) == sorted((f"item {n}", f"v{n}", n) for n in range(20))
        await carrier.close()

    run(work)


def test_all_versions_of_an_item_are_in_one_partition(kafka: Kafka) -> None:
    kafka.create("versions", 8)

    async def work() -> None:
        carrier = opened(kafka, "versions")
        for version in range(5):
            await carrier.publish("same", str(version), "null")
        await carrier.close()
        # partition by partition: in order only if all are in one
        assert [headers["wqc-version"] for headers, _ in kafka.messages("versions")] == list("01234")

    run(work)


def test_a_topic_is_made_if_it_is_asked_for(kafka: Kafka) -> None:
    async def work() -> None:
        carrier = opened(kafka, "made")
        with pytest.raises(
            SourceError, match=f"there is no topic made on {kafka.brokers}; with `create = true` it is made"
        ):
            await carrier.publish("a", "", "1")
        await carrier.close()
        carrier = opened(kafka, "made", create=True, partitions=3, replication=2)
        with pytest.raises(SourceError, match=r"the topic made can't be made: .*eplication factor"):
            await carrier.publish("a", "", "1")
        await carrier.close()
        carrier = opened(kafka, "made", create=True, partitions=3, replication=1)
        await carrier.publish("a", "", "1")
        await carrier.close()
        assert kafka.topics()["made"] == 3
        assert len(kafka.messages("made")) == 1

    run(work)


def test_what_is_too_large_for_the_topic_is_said_and_holds_up_nothing_else(kafka: Kafka) -> None:
    kafka.create("small", max_message_bytes="1000")
    kafka.create("wide", max_message_bytes=str(2 << 20))
    data = json.dumps("x" * (1 << 20))

    async def work() -> None:
        carrier = opened(kafka, "small")
        with pytest.raises(NotAccepted, match=r"finds it too large: see the topic's max\.message\.bytes"):
            await carrier.publish("a", "", data)
        await carrier.publish("b", "", "1")
        # what is sent together with it, or is too much together, is sent on its own
        names = [f"n{number}" for number in range(40)]
        outcomes = await asyncio.gather(
            *(carrier.publish(name, "", "1") for name in names),
            carrier.publish("a", "", data),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [type(None)] * 40 + [NotAccepted]
        assert sorted(headers["wqc-item"] for headers, _ in kafka.messages("small")) == sorted(["b", *names])
        await carrier.close()
        carrier = opened(kafka, "wide")
        await carrier.publish("a", "", data)
        await carrier.close()
        assert [len(body or b"") for _, body in kafka.messages("wide")] == [len(data)]

    run(work)


def test_what_the_topic_does_not_allow_is_said_and_holds_up_nothing_else(kafka: Kafka) -> None:
    kafka.create("compacted", cleanup_policy="compact")
    kafka.create("punctual", message_timestamp_before_max_ms="1")

    async def work() -> None:
        carrier = opened(kafka, "compacted")
        assert isinstance(carrier, KafkaCarrier)
        await carrier.publish("first", "", "0")
        names = [f"n{number}" for number in range(20)]
        publishing = asyncio.gather(*(carrier.publish(name, "", "1") for name in names))
        await asyncio.sleep(0)
        # sent together with them, and refused: it has no key
        poison: list[KafkaError] = []
        assert carrier._client
        carrier._client._producer.produce("compacted", b"", on_delivery=lambda error, _: poison.append(error))
        await publishing
        assert [error.code() for error in poison] == [KafkaError.INVALID_RECORD]
        assert len(kafka.messages("compacted")) == 21
        await carrier.close()
        carrier = opened(kafka, "punctual")
        with pytest.raises(NotAccepted, match=f"{kafka.brokers} refuses it: .*[Tt]imestamp"):
            await carrier.publish("late", "", "1")
        await carrier.close()

    run(work)


def test_a_topic_that_is_deleted_under_way_is_made_again(kafka: Kafka) -> None:
    async def work() -> None:
        carrier = opened(kafka, "remade", create=True, replication=1)
        await carrier.publish("a", "", "1")
        kafka.delete("remade")
        for _ in range(50):
            try:
                await carrier.publish("b", "", "2")
                break
            except SourceError:
                await asyncio.sleep(0.2)
        await carrier.close()
        assert [headers["wqc-item"] for headers, _ in kafka.messages("remade")] == ["b"]

    run(work)


def test_a_topic_that_is_deleted_under_way_is_not_made_unasked(tmp_path: Path) -> None:
    """Though the brokers make every topic that they are asked for, as is usual."""

    async def work(kafka: Kafka) -> None:
        options = {"brokers": kafka.brokers, "topic": "deleted"}
        carrier = open_carrier(CarrierSettings("c", "kafka", options), Periods(request=4.0))
        await carrier.publish("a", "", "1")
        kafka.delete("deleted")
        said: list[str] = []
        while not said or "create = true" not in said[-1]:
            with pytest.raises(SourceError) as refused:
                await carrier.publish("b", "", "1")
            said.append(str(refused.value))
        assert said[0] == f"{kafka.brokers} has no such topic"
        await carrier.close()
        assert "deleted" not in kafka.topics()

    with kafka_server(tmp_path, auto_create_topics_enable="true") as kafka:
        kafka.create("deleted", 3)
        run(lambda: work(kafka))


def test_a_wrong_password_is_said_and_mended_without_a_restart(kafka: Kafka, tmp_path: Path) -> None:
    kafka.create("shut")
    password = tmp_path / "password"
    password.write_text("wrong")

    async def work() -> None:
        carrier = opened(
            kafka,
            "shut",
            brokers=kafka.guarded,
            username=USER,
            auth={"file": str(password)},
            tls={"file": str(kafka.authority)},
        )
        with pytest.raises(SourceError, match=f"{kafka.guarded} refuses the user {USER} or the password"):
            await carrier.publish("a", "", "1")
        password.write_text("")
        with pytest.raises(
            SourceError, match=f"the password of the user {USER} for {kafka.guarded} is empty"
        ):
            await carrier.publish("a", "", "1")
        password.write_text(PASSWORD)
        await carrier.publish("a", "", "1")
        await carrier.close()
        assert len(kafka.messages("shut")) == 1

    run(work)


def test_through_an_ambassador(kafka: Kafka, remote: Ambassador) -> None:
    async def work() -> None:
        carrier = HttpCarrier(f"{remote.url}/photos", 20.0)
        await carrier.publish(ODD, "v 1", json.dumps({"x": 1}))
        await carrier.publish("plain", "", "2")
        large = json.dumps("x" * (2 << 20))
        with pytest.raises(NotAccepted, match=r"422: .* finds it too large"):
            await carrier.publish("large", "", large)
        with pytest.raises(NotAccepted, match="422: its data isn't JSON"):
            await carrier.publish("bad", "", "{")
        await carrier.close()

    run(work)
    found = {
        headers["wqc-item"]: (headers.get("wqc-version"), body) for headers, body in kafka.messages("photos")
    }
    assert found == {ODD: ("v 1", b'{"x": 1}'), "plain": (None, b"2")}
    assert remote.ask("/api/v1/items", "GET").status == 404
    assert remote.ask("/api/v1/items/a", "GET").status == 405


def test_an_ambassador_without_settings_says_so(tmp_path: Path) -> None:
    with ambassador(["carrier", "photos"], tmp_path) as running:

        async def work() -> None:
            carrier = HttpCarrier(f"{running.url}/photos", 20.0)
            with pytest.raises(SourceError, match=r"carrier\.yaml can't be read: No such file"):
                await carrier.publish("a", "", "1")
            await carrier.close()

        run(work)
