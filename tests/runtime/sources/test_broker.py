"""What a broker holds as a source, and through ambassadors and the manager to `.failed`."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from support.localrun import QUICK, jobs, queue_files, until_idle
from support.served import served
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.sources import broker
from wqc.runtime.sources.backing_off import BackingOff
from wqc.runtime.sources.body import Body
from wqc.runtime.sources.broker import BrokerSource, Held
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.patient import patient
from wqc.runtime.sources.source import Listing, NoSuchItem


class InMemory:
    """A broker without a network: a list of messages, some of them held."""

    notice = ""

    def __init__(self, *bodies: bytes) -> None:
        self.waiting = {str(number): body for number, body in enumerate(bodies)}
        self.held: dict[str, bytes] = {}

    async def hold(self, limit: int) -> Held:
        while self.waiting and len(self.held) < limit:
            name = next(iter(self.waiting))
            self.held[name] = self.waiting.pop(name)
        return Held(dict.fromkeys(self.held, ""), bool(self.waiting))

    async def body(self, name: str) -> Body:
        if name not in self.held:
            raise NoSuchItem(f"there is no message {name}")
        return self.held[name]

    async def done(self, name: str) -> None:
        self.held.pop(name, None)

    async def close(self) -> None:
        pass


def test_messages_are_held_up_to_a_bound_and_let_go_when_done() -> None:
    async def run() -> None:
        source = BrokerSource(InMemory(*[b"1"] * (broker.HELD + 10)), "json")
        listing = await source.list()
        assert len(listing.versions) == broker.HELD
        assert listing.wants_done
        assert listing.settling
        await source.done("0")
        await source.done("0")
        names = list((await source.list()).versions)
        assert (names[0], names[-1], len(names)) == ("1", str(broker.HELD), broker.HELD)

    asyncio.run(run())


def test_messages_that_failed_take_no_place_until_they_are_too_many() -> None:
    async def run() -> None:
        bad = [b"bad"] * (broker.FAILED_HELD + broker.HELD)
        source = BrokerSource(InMemory(*bad, *[b"1"] * 10), "json")
        good = 0
        for _ in range(10):
            listing = await source.list()
            good = len(listing.versions) - len(listing.failed)
        assert good == 0
        assert listing.notice.startswith("1500 messages failed and are held")
        await source.done("0")
        await source.list()
        assert len((await source.list()).versions) == broker.FAILED_HELD + broker.HELD

        few = BrokerSource(InMemory(*[b"bad"] * broker.HELD, *[b"1"] * 10), "json")
        await few.list()
        listing = await few.list()
        assert (len(listing.versions), len(listing.failed), listing.notice) == (
            broker.HELD + 10,
            broker.HELD,
            "",
        )

    asyncio.run(run())


def test_what_is_not_json_goes_to_the_reader_of_failed(tmp_path: Path) -> None:
    held = InMemory(b'{"n": 1}', b"poison", b"\xff")
    out = tmp_path / "out"

    async def run() -> Status:
        workflow = Workflow("poisoned")
        words = workflow.source("words")
        workflow.queue("work", words)
        workflow.queue("mend", workflow.filter("read", words.failed, where="item.data.attempts == 0"))
        files = {
            "work": queue_files("work", "true"),
            "mend": queue_files("mend", f'echo "$(cat "$WORK_ITEM_FILE")" >> {out}', at_once=1),
        }
        return await until_idle(workflow, tmp_path / "s", files, {"words": BrokerSource(held, "json")})

    status = asyncio.run(run())
    assert [queue.done for queue in status.queues] == [1, 2]
    assert not held.held
    told = sorted(
        (json.loads(line) for line in out.read_text().splitlines()), key=lambda each: each["item"]["name"]
    )
    assert [each["item"]["data"] for each in told] == ["poison", {"base64": "/w=="}]
    assert told[1]["reason"] == "it isn't UTF-8: byte 0 is 0xff"


def test_what_is_not_json_is_kept_and_named_where_nobody_reads_failed(tmp_path: Path) -> None:
    held = InMemory(b"1", b"poison", b"2")

    async def run() -> Status:
        workflow = Workflow("poisoned")
        workflow.queue("work", workflow.source("words"))
        files = {"work": queue_files("work", "true")}
        return await until_idle(workflow, tmp_path / "s", files, {"words": BrokerSource(held, "json")})

    status = asyncio.run(run())
    (failed,) = status.nodes[0].failures
    assert (status.nodes[0].node, failed.item) == ("words", "1")
    assert failed.reason.startswith("it isn't JSON")
    assert held.held == {}
    assert {job["name"] for job in jobs(tmp_path / "s")} == {"0", "1", "2"}


def test_no_more_is_held_than_the_manager_can_do_with_and_what_is_free_is_filled_at_once(
    tmp_path: Path,
) -> None:
    memory = InMemory(*[b"1"] * 200)
    most = 0

    class Watched(BrokerSource):
        async def list(self) -> Listing:
            nonlocal most
            listing = await super().list()
            most = max(most, len(memory.held))
            return listing

    async def run() -> Status:
        workflow = Workflow("bounded")
        numbers = workflow.source("numbers")
        split = workflow.splitter("halves", numbers, cases={"all": "item.data == 1"}, otherwise="drop")
        workflow.queue("work", split["all"])
        files = {"work": queue_files("work", "true", at_once=5)}
        source = patient(BackingOff(Watched(memory, "json"), 1, 1), 10)
        rarely = replace(QUICK, listing=600.0)
        return await until_idle(workflow, tmp_path / "s", files, {"numbers": source}, periods=rarely)

    status = asyncio.run(run())
    assert status.queues[0].done == 200
    assert most == 16 + 2 * 5


def test_what_is_wanted_goes_over_http() -> None:
    async def run() -> None:
        memory = InMemory(*[b"1"] * 100)
        async with served({"": patient(BackingOff(BrokerSource(memory, "json"), 1, 1), 10)}) as url:
            source = HttpSource(url, 10)
            source.want(20)
            assert len((await source.list()).versions) == 20
            source.want(30)
            assert len((await source.list()).versions) == 30

    asyncio.run(run())


def test_messages_that_are_too_large_for_a_job_hold_up_no_others(tmp_path: Path) -> None:
    large = b'"%b"' % (b"x" * (1 << 20))
    memory = InMemory(*[large] * 30, *[b"1"] * 5)

    async def run() -> Status:
        workflow = Workflow("large")
        workflow.queue("work", workflow.source("numbers"))
        files = {"work": queue_files("work", "true", at_once=1)}
        source = patient(BackingOff(BrokerSource(memory, "json"), 1, 1), 30)
        return await until_idle(workflow, tmp_path / "s", files, {"numbers": source})

    queue = asyncio.run(run()).queues[0]
    assert (queue.done, queue.failed) == (5, 30)
    assert list(memory.held.values()) == [large] * 30
