"""Kafka topics, while the broker dies and the network is cut."""

import asyncio
import time
from collections import Counter
from pathlib import Path

from support.cable import Cable, cable
from support.kafka import Kafka, kafka_server
from support.opened import listed, opened, refusal
from wqc.runtime.sources.source import HoldingSource, SourceError

ITEMS = 500


async def worked_off(source: HoldingSource, seen: Counter[int], delay: float) -> None:
    """All of the topic, item by item, however often it fails meanwhile."""
    while len(seen) < ITEMS:
        listing = await listed(source, lambda each: True, timeout=120)
        for name in listing.versions:
            try:
                number = int(await source.get(name))
            except SourceError:
                break
            seen[number] += 1
            await told(source, name)
            await asyncio.sleep(delay)


async def told(source: HoldingSource, name: str) -> None:
    """That it is done, as soon as the source takes that."""
    while True:
        try:
            return await source.done(name)
        except SourceError:
            await asyncio.sleep(0.02)


async def committed(source: HoldingSource, kafka: Kafka) -> None:
    """Until all of the topic is, which takes no more than that the source is listed."""

    def count() -> int:
        return sum(kafka.committed("numbers", "w.words").values())

    until = time.monotonic() + 60
    while (number := await asyncio.to_thread(count)) != ITEMS:
        assert time.monotonic() < until, number
        await listed(source, lambda each: True)


def test_a_broker_that_is_killed_in_the_middle_of_500_items(tmp_path: Path) -> None:
    seen: Counter[int] = Counter()

    async def run(kafka: Kafka) -> None:
        async with opened("kafka", brokers=kafka.brokers, topic="numbers") as source:
            work = asyncio.create_task(worked_off(source, seen, 0.01))
            for enough in (100, 300):
                while len(seen) < enough:
                    await asyncio.sleep(0.02)
                    assert not work.done(), work.result()
                await asyncio.to_thread(kafka.kill)
                said = await refusal(source, "can't be reached")
                assert said.startswith(kafka.brokers)
                await asyncio.to_thread(kafka.start)
            await work
            await committed(source, kafka)

    with kafka_server(tmp_path) as kafka:
        kafka.create("numbers", 3)
        kafka.send("numbers", range(ITEMS))
        asyncio.run(run(kafka))
        assert seen == Counter(range(ITEMS))


def test_a_network_that_is_cut_for_longer_than_any_timeout(tmp_path: Path) -> None:
    """A broker counts as lost after 9 s (here 2 s) without a word, a request after 3 s."""
    seen: Counter[int] = Counter()

    async def run(kafka: Kafka, way: Cable) -> None:
        async with opened("kafka", brokers=kafka.brokers, topic="numbers") as source:
            work = asyncio.create_task(worked_off(source, seen, 0.01))
            while len(seen) < 100:
                await asyncio.sleep(0.02)
                assert not work.done(), work.result()
            way.pull()
            cut = time.monotonic()
            said = await refusal(source, "can't be reached")
            assert said.startswith(kafka.brokers)
            while time.monotonic() < cut + 15:
                await asyncio.sleep(0.1)
            way.plug()
            await work
            await committed(source, kafka)

        # who ends while it is cut doesn't wait for ever
        kafka.send("numbers", [ITEMS])
        async with opened("kafka", brokers=kafka.brokers, topic="numbers") as source:
            listing = await listed(source)
            for name in listing.versions:
                await source.done(name)
            way.pull()
            cut = time.monotonic()
        assert time.monotonic() < cut + 20
        way.plug()

    with cable() as way, kafka_server(tmp_path, way.address, way.prefix) as kafka:
        kafka.create("numbers", 3)
        kafka.send("numbers", range(ITEMS))
        asyncio.run(run(kafka, way))
        assert seen == Counter(range(ITEMS))
