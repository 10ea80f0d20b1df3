"""What a manager writes about itself: seldom, and never more than fits."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from support.localrun import managed, queue_files, until_idle
from support.sources import Holding
from wqc.contract.limits import CONFIG_MAP_BYTES, NAME_LENGTH
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.announcer import announce
from wqc.runtime.manager.reporter import NUMBERS, report
from wqc.runtime.manager.status import (
    NAME_SHOWN,
    Failure,
    QueueStatus,
    SourceStatus,
    Status,
    Trouble,
    decode_report,
    encode_report,
    troubled,
)
from wqc.runtime.periods import Periods
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.state import State
from wqc.runtime.stores.store import Announcement, Refused

WAITING = QueueStatus(
    "work",
    waiting=1,
    running=0,
    parallelism=1,
    done=0,
    failed=0,
    held=0,
    handing=0,
    oldest=0.0,
    arrival_interval=None,
    slot_time=None,
    rate=0.0,
    blocked="",
    knows=True,
    failures=(),
)


class Counting(LocalStateStore):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.written: list[Status] = []

    async def write(self, changes: Mapping[str, str | None], version: str | None = None) -> State:
        self.written.append(decode_report(changes["status"] or "").status)
        return await super().write(changes, version)


def test_nothing_is_written_because_time_passes(tmp_path: Path) -> None:
    store = Counting(tmp_path)
    asked = 0
    waiting = 1

    def status() -> Status:
        nonlocal asked
        asked += 1
        queue = replace(WAITING, waiting=waiting, oldest=float(asked), arrival_interval=1.0 + asked)
        return Status((), (queue,), (), idle=False)

    async def until(count: int) -> None:
        while asked < count:
            await asyncio.sleep(0.01)

    async def scenario() -> None:
        nonlocal waiting
        task = asyncio.create_task(report(store, status, dict, Periods(report=0.01)))
        await until(10)
        assert len(store.written) == 1
        waiting = 2
        await until(20)
        assert [each.queues[0].waiting for each in store.written] == [1, 2]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


def test_numbers_are_written_less_often_than_news(tmp_path: Path) -> None:
    store = Counting(tmp_path)
    asked = 0

    def status() -> Status:
        nonlocal asked
        asked += 1
        blocked = "no quota" if asked > 20 else ""
        retrying = troubled([Trouble(str(asked), "exit code 1")])
        queue = replace(WAITING, waiting=asked, done=asked, blocked=blocked, retrying=retrying)
        return Status((SourceStatus("names", "", settling=asked % 2 == 0),), (queue,), (), idle=False)

    async def scenario() -> float:
        began = time.monotonic()
        task = asyncio.create_task(report(store, status, dict, Periods(report=0.05)))
        while asked < 22:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return time.monotonic() - began

    seconds = asyncio.run(scenario())
    *numbers, news, last = (each.queues[0] for each in store.written)
    assert [each.blocked for each in numbers] == [""] * len(numbers)
    assert 3 <= len(numbers) <= 1 + seconds / (NUMBERS * 0.05)
    assert (news.blocked, news.waiting) == ("no quota", 21)  # at once, and with the numbers of that moment
    assert last.waiting == asked


def test_long_names_are_cut_in_what_is_written(tmp_path: Path) -> None:
    names = [str(number) * NAME_LENGTH for number in range(10)]
    workflow = Workflow("long")
    source = workflow.source("names")
    workflow.queue("work", source)
    workflow.filter("some", source, "item.data.absent")
    files = {"work": queue_files("work", "exit 1", retries=0)}
    status = asyncio.run(until_idle(workflow, tmp_path, files, {"names": names}))
    found = [*status.queues[0].failures, *status.nodes[0].failures]
    assert sorted(each.item for each in found) == sorted(2 * [name[:NAME_SHOWN] for name in names])
    assert len(encode_report(status)) < 2 * NAME_LENGTH


class Announcing(LocalStore):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {})
        self.said: list[tuple[float, str, str]] = []
        """When, the reason and the message."""

    async def announce(self, queue: str, said: Announcement) -> None:
        assert queue == "work"
        self.said.append((time.monotonic(), said.reason, said.message))


def test_long_reasons_are_cut_in_what_is_written(tmp_path: Path) -> None:
    """A source's own words, for each of many members."""

    async def scenario() -> None:
        workflow = Workflow("long")
        members = [f"m{number}" for number in range(30)]
        workflow.queue("work", workflow.bundle("names", members))
        why = {f"item {number}": "é" * 5000 for number in range(10)}
        sources = {f"names.{member}": Holding(dict.fromkeys(why, 1), why) for member in members}
        files = {"work": queue_files("work", "true", lanes=members)}
        async with managed(workflow, tmp_path, files, sources) as manager:
            status = await manager.until(lambda status: sum(each.failed for each in status.nodes) == 300)
            assert len(encode_report(status).encode()) < CONFIG_MAP_BYTES / 2

    asyncio.run(scenario())


def test_events_are_of_a_queue_s_state_and_not_of_each_item(tmp_path: Path) -> None:
    """Fifty items fail one after the other: one Event, and one with their number once the period is over."""
    period = 1.5
    store = Announcing(tmp_path)
    failed = 0
    grows = True

    def status() -> Status:
        nonlocal failed
        failed += grows and failed < 50
        shown = tuple(Failure(f"item {number}", "exit code 1", "", "") for number in range(failed))[-10:]
        return Status((), (replace(WAITING, failed=failed, held=failed, failures=shown),), (), idle=False)

    async def until(count: int) -> None:
        end = time.monotonic() + 30
        while len(store.said) < count:
            assert time.monotonic() < end, store.said
            await asyncio.sleep(0.01)

    async def scenario() -> None:
        nonlocal failed, grows
        task = asyncio.create_task(announce(store, status, Periods(report=0.001, announce=period)))
        while failed < 50:
            await asyncio.sleep(0.001)
        assert len(store.said) == 1
        await until(2)
        await asyncio.sleep(1.2 * period)  # nothing is new: nothing is said
        failed, grows = 0, False
        await until(3)  # at once
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await store.close()

    asyncio.run(scenario())
    assert [(reason, text) for _, reason, text in store.said] == [
        ("ItemsFailed", "work: item 0 failed: exit code 1"),
        ("ItemsFailed", "work: item 49 failed: exit code 1; 50 items did"),
        ("NoneFailed", "work: no failed item is held any more"),
    ]
    first, second, _ = (at for at, _, _ in store.said)
    assert second - first >= period


def test_what_comes_and_goes_is_told_seldom(tmp_path: Path) -> None:
    """As where a quick queue waits for the reader of its items, again and again."""
    store = Announcing(tmp_path)
    looks = 0

    def status() -> Status:
        nonlocal looks
        looks += 1
        return Status((), (replace(WAITING, blocked="its reader" * (looks % 2)),), (), idle=False)

    async def scenario() -> None:
        task = asyncio.create_task(announce(store, status, Periods(report=0.02, announce=1.0)))
        await asyncio.sleep(2.5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await store.close()

    asyncio.run(scenario())
    assert looks > 20
    blocked = [at for at, reason, _ in store.said if reason == "Blocked"]
    assert len(blocked) >= 2
    assert all(later - at >= 1.0 for at, later in pairwise(blocked))
    assert len(store.said) <= 2 * len(blocked)


class Refusing(LocalStateStore):
    asked = 0

    async def write(self, changes: Mapping[str, str | None], version: str | None = None) -> State:
        self.asked += 1
        raise Refused("the server is away")


def test_who_refuses_is_asked_less_and_less_often_and_is_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> int:
        store = Refusing(tmp_path)
        periods = Periods(report=0.01, refused=0.1, refused_limit=10.0)
        status = Status((), (WAITING,), (), idle=False)
        task = asyncio.create_task(report(store, lambda: status, dict, periods))
        await asyncio.sleep(1.0)
        asked = store.asked
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return asked

    assert asyncio.run(scenario()) in (3, 4)  # after 0, 0.1, 0.3 and 0.7 seconds
    assert [record.getMessage() for record in caplog.records] == ["can't report how it is"]
