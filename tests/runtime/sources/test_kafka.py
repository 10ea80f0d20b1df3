"""Topics of a real Kafka as sources."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from support.kafka import PASSWORD, USER, Kafka
from support.opened import refusal
from wqc.contract.settings import SourceSettings
from wqc.runtime.periods import Periods
from wqc.runtime.sources import kafka as reader
from wqc.runtime.sources.opening import open_source
from wqc.runtime.sources.source import HoldingSource, Listing, SourceError

PERIODS = Periods(request=20.0, retry_listing=0.05, refused_limit=0.1)


def opened(kafka: Kafka, topic: str, **options: Any) -> HoldingSource:
    given = {"brokers": kafka.brokers, "topic": topic} | options
    source = open_source(SourceSettings("t", "kafka", given, workflow="w"), "", PERIODS)
    assert isinstance(source, HoldingSource)
    return source


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(120):
            await work()

    asyncio.run(bounded())


async def listed(source: HoldingSource) -> Listing:
    """As soon as it can be."""
    while True:
        try:
            return await source.list()
        except SourceError:
            await asyncio.sleep(0.1)


async def all_of(source: HoldingSource) -> Listing:
    """The listing once it is known that there is no more."""
    while (listing := await listed(source)).settling:
        pass
    return listing


async def taken(source: HoldingSource) -> dict[str, Any]:
    """All items' data by name; the source is told that they are done."""
    found: dict[str, Any] = {}
    while True:
        listing = await listed(source)
        for name in listing.versions:
            found[name] = json.loads(await source.get(name))
            await source.done(name)
        if not listing.settling:
            return found


def test_messages_are_named_after_their_place(kafka: Kafka) -> None:
    kafka.create("places", 3)
    kafka.send("places", [{"n": n} for n in range(7)])

    async def work() -> None:
        source = opened(kafka, "places")
        listing = await all_of(source)
        assert listing.wants_done
        assert sorted(name.split("@")[0] for name in listing.versions) == [
            "places-0-0",
            "places-0-1",
            "places-0-2",
            "places-1-0",
            "places-1-1",
            "places-2-0",
            "places-2-1",
        ]
        assert len({name.split("@")[1] for name in listing.versions}) == 1
        second = next(name for name in listing.versions if name.startswith("places-1-1"))
        assert json.loads(await source.get(second)) == {"n": 4}
        await source.close()

    run(work)


def test_what_is_done_is_committed_and_not_read_again(kafka: Kafka) -> None:
    kafka.create("gaps")
    kafka.send("gaps", range(10))

    async def work() -> None:
        source = opened(kafka, "gaps")
        listing = await all_of(source)
        for name in listing.versions:
            if name.split("@")[0] not in ("gaps-0-3", "gaps-0-7"):
                await source.done(name)
        await source.done("gaps-0-0")
        await source.close()
        assert kafka.committed("gaps", "w.t") == {0: 3}

        source = opened(kafka, "gaps")
        listing = await all_of(source)
        assert [name.split("@")[0] for name in listing.versions] == ["gaps-0-3", "gaps-0-7"]
        for name in listing.versions:
            await source.done(name)
        await source.close()
        assert kafka.committed("gaps", "w.t") == {0: 10}

    run(work)


def test_a_reader_that_was_killed_is_followed_by_one_that_reads_all_again(kafka: Kafka) -> None:
    kafka.create("killed")
    kafka.send("killed", range(5))

    async def work() -> None:
        first = opened(kafka, "killed")
        names = list((await all_of(first)).versions)
        await first.done(names[0])  # nothing is committed yet: no listing follows
        assert kafka.committed("killed", "w.t") == {0: 0}
        second = opened(kafka, "killed")
        assert list((await all_of(second)).versions) == names
        await first.close()
        await second.close()

    run(work)


def test_reading_goes_on_behind_the_marks_of_transactions_and_compaction(kafka: Kafka) -> None:
    kafka.create("marks")
    kafka.send_in_transaction("marks", ["a"])
    kafka.send_in_transaction("marks", ["b"], abort=True)
    kafka.send_in_transaction("marks", ["c"])

    async def work() -> None:
        source = opened(kafka, "marks")
        found = await taken(source)
        assert sorted(found.values()) == ["a", "c"]
        await source.close()
        assert kafka.committed("marks", "w.t") == {0: 6}

    run(work)


def test_a_carriers_headers_are_the_items_identity(kafka: Kafka) -> None:
    kafka.create("carried")
    for version, value in (("1", "first"), ("1", "first"), ("2", "second")):
        kafka.send("carried", [value], wqc_item="photo 1.jpg", wqc_version=version)

    async def work() -> None:
        source = opened(kafka, "carried")
        listing = await all_of(source)
        assert listing.versions == {"photo 1.jpg": "1"}
        await source.done("photo 1.jpg")
        # another version of it comes when that one is done
        assert (await all_of(source)).versions == {"photo 1.jpg": "2"}
        assert json.loads(await source.get("photo 1.jpg")) == "second"
        await source.close()
        assert kafka.committed("carried", "w.t") == {0: 2}

    run(work)


def test_an_item_that_is_sent_again_is_listed_once_the_first_is_seen_to_be_gone(kafka: Kafka) -> None:
    kafka.create("returning")

    async def work() -> None:
        source = opened(kafka, "returning")
        kafka.send("returning", ["first"], wqc_item="photo", wqc_version="1")
        assert (await all_of(source)).versions == {"photo": "1"}
        await source.done("photo")
        kafka.send("returning", ["first"], wqc_item="photo", wqc_version="1")
        while (listing := await listed(source)).versions == {} and not listing.settling:
            pass
        assert (listing.versions, listing.settling) == ({}, True)
        assert (await listed(source)).versions == {"photo": "1"}
        await source.done("photo")
        assert not (await all_of(source)).versions
        await source.close()
        assert kafka.committed("returning", "w.t") == {0: 2}

    run(work)


def test_another_program_in_the_group_is_said(kafka: Kafka) -> None:
    kafka.create("shared")
    kafka.send("shared", range(3))

    async def work() -> None:
        with kafka.member("shared", "w.t"):
            source = opened(kafka, "shared")
            for name in (await all_of(source)).versions:
                await source.done(name)
            while not (notice := (await all_of(source)).notice):
                await asyncio.sleep(0.1)
            assert notice == (
                "what is done can't be committed: another program is in the group w.t; choose another `group`"
            )
        # it has gone
        while (await all_of(source)).notice:
            await asyncio.sleep(0.1)
        await source.close()
        assert kafka.committed("shared", "w.t") == {0: 3}

    run(work)


def test_reading_from_the_end_misses_nothing_that_comes_later(kafka: Kafka) -> None:
    kafka.create("late", 2)
    kafka.send("late", range(4))

    async def work() -> None:
        source = opened(kafka, "late", start="latest")
        assert (await all_of(source)).versions == {}
        await source.close()
        kafka.send("late", [5], partition=0)
        kafka.widen("late", 3)
        kafka.send("late", [6], partition=2)
        source = opened(kafka, "late", start="latest")
        assert sorted((await taken(source)).values()) == [5, 6]
        await source.close()

    run(work)


def test_partitions_that_come_later_are_read(kafka: Kafka) -> None:
    kafka.create("wider")
    kafka.send("wider", [0])

    async def work() -> None:
        source = opened(kafka, "wider")
        await all_of(source)
        kafka.widen("wider", 3)
        kafka.send("wider", [1, 2, 3])
        found: dict[str, Any] = {}
        while len(found) < 4:
            found |= await taken(source)
        assert sorted(found.values()) == [0, 1, 2, 3]
        await source.close()

    run(work)


def test_a_topic_that_is_deleted_and_made_anew_has_new_items(kafka: Kafka) -> None:
    async def work() -> None:
        source = opened(kafka, "again")
        with pytest.raises(SourceError, match=f"there is no topic again on {kafka.brokers}"):
            await source.list()
        kafka.create("again")
        kafka.send("again", ["old 0", "old 1"])
        first = await all_of(source)
        old = list(first.versions)
        await source.done(old[0])
        kafka.delete("again")
        with pytest.raises(SourceError, match="there is no topic again"):
            await source.list()
        kafka.create("again")
        kafka.send("again", ["new"])
        listing = await all_of(source)
        # who holds a message is trusted with it, though its topic is gone
        assert old[1] in listing.versions
        assert (
            listing.notice == "the topic again was deleted and made anew, with 1 messages that weren't done"
        )
        found = await taken(source)
        assert sorted(found.values()) == ["new", "old 1"]
        assert old[0] not in found
        await source.close()

    run(work)


def test_what_the_brokers_deleted_unread_is_said(kafka: Kafka) -> None:
    kafka.create("trimmed")
    kafka.send("trimmed", range(10))

    async def work() -> None:
        source = opened(kafka, "trimmed")
        await all_of(source)
        await source.close()
        kafka.trim("trimmed", 0, 4)
        source = opened(kafka, "trimmed")
        listing = await all_of(source)
        assert len(listing.versions) == 6
        assert listing.notice == (
            "partition 0 of trimmed: 4 messages were deleted by the brokers before they were read"
        )
        await source.close()

    run(work)


def test_large_messages_are_held_a_few_at_a_time(kafka: Kafka) -> None:
    kafka.create("large", max_message_bytes=str(2 << 20))
    size = 1 << 20
    kafka.send("large", [str(n) * size for n in range(10)] * 3)

    async def work() -> None:
        source = opened(kafka, "large")
        listing = await source.list()
        while not listing.versions:
            listing = await source.list()
        assert len(listing.versions) <= reader.MOST_BYTES // size + 1
        assert listing.settling
        found = await taken(source)
        assert len(found) == 30
        assert {len(value) for value in found.values()} == {size}
        await source.close()

    run(work)


def test_equal_payloads_are_different_items(kafka: Kafka) -> None:
    kafka.create("equal")
    kafka.send("equal", ["same"] * 3)

    async def work() -> None:
        source = opened(kafka, "equal")
        assert list((await taken(source)).values()) == ["same"] * 3
        await source.close()

    run(work)


def test_poison_and_tombstones(kafka: Kafka) -> None:
    kafka.create("odd")
    kafka.send("odd", [b"{", None, b"\xff", b""])

    async def work() -> None:
        source = opened(kafka, "odd")
        listing = await all_of(source)
        names = list(listing.versions)
        assert [name in listing.failed for name in names] == [True, False, True, True]
        assert json.loads(await source.get(names[1])) is None
        await source.close()

    run(work)


@pytest.mark.parametrize("mechanism", ["scram_sha_512", "plain"])
def test_with_a_password_over_tls(kafka: Kafka, monkeypatch: pytest.MonkeyPatch, mechanism: str) -> None:
    topic = f"guarded-{mechanism}"
    kafka.create(topic)
    kafka.send(topic, ["secret"])
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)

    async def work() -> None:
        source = opened(
            kafka,
            topic,
            brokers=kafka.guarded,
            username=USER,
            auth={"env": "KAFKA_PASSWORD"},
            sasl=mechanism,
            tls={"file": str(kafka.authority)},
        )
        assert list((await taken(source)).values()) == ["secret"]
        await source.close()

    run(work)


def test_a_wrong_password_is_said_and_mended_without_a_restart(kafka: Kafka, tmp_path: Any) -> None:
    kafka.create("password")
    kafka.send("password", ["secret"])
    password = tmp_path / "password"
    password.write_text("wrong")

    async def work() -> None:
        source = opened(
            kafka,
            "password",
            brokers=kafka.guarded,
            username=USER,
            auth={"file": str(password)},
            tls={"file": str(kafka.authority)},
        )
        with pytest.raises(SourceError, match=f"{kafka.guarded} refuses the user {USER} or the password"):
            await source.list()
        password.write_text("")
        said = await refusal(source, "empty")
        assert said == f"the password of the user {USER} for {kafka.guarded} is empty"
        password.write_text(PASSWORD)
        assert list((await taken(source)).values()) == ["secret"]
        await source.close()

    run(work)


def test_a_commit_that_failed_unheard_is_made_good_as_it_ends(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the group's coordinator moves just then: nothing is heard of it before the next reading."""
    kafka.create("unheard")
    kafka.send("unheard", range(10))

    async def work() -> None:
        source = opened(kafka, "unheard")
        listing = await all_of(source)
        for name in listing.versions:
            await source.done(name)
        monkeypatch.setattr(reader.Topic, "commit", lambda topic, offsets: None)
        await listed(source)
        await source.close()
        assert kafka.committed("unheard", "w.t") == {0: 10}

    run(work)


def test_a_certificate_of_others_is_said(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)

    async def work() -> None:
        source = opened(
            kafka, "t", brokers=kafka.guarded, username=USER, auth={"env": "KAFKA_PASSWORD"}, tls=True
        )
        with pytest.raises(SourceError, match=r"TLS fails: .*certificate"):
            await source.list()
        await source.close()

    run(work)


def test_brokers_that_are_not_there_are_said() -> None:
    async def work() -> None:
        settings = {"brokers": "127.0.0.1:1", "topic": "t"}
        source = open_source(
            SourceSettings("t", "kafka", settings, workflow="w"), "", Periods(request=4.0, retry_listing=0.05)
        )
        with pytest.raises(SourceError, match=r"127\.0\.0\.1:1 can't be reached: Connection refused"):
            await source.list()
        await source.close()

    run(work)
