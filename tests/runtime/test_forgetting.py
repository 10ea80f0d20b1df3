"""The record forgets what no source has listed for long, and nothing after what looks like a mishap."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.localrun import QUICK, managed, queue_files
from support.sources import Shared
from wqc.contract.names import item_hash
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.forgetting import AT_ONCE, Forgetting
from wqc.runtime.queue.book import Book
from wqc.runtime.queue.hashes import Hashes
from wqc.runtime.queue.recorder import Recorder
from wqc.runtime.sources.source import Listing

DAY = 86400.0
NAMES = Port("names")


def chain() -> Workflow:
    """Two sources, merged into a queue, whose finished items another queue gets."""
    workflow = Workflow("chain")
    names, others = workflow.source("names"), workflow.source("others")
    merged = workflow.merger("merged", {"names": names, "others": others})
    workflow.queue("second", workflow.queue("first", merged))
    return workflow


def simple() -> Forgetting:
    workflow = Workflow("simple")
    workflow.queue("work", workflow.source("names"))
    return Forgetting(workflow.graph, [NAMES], {"work": item_hash}, 7 * DAY)


def keys(*names: str) -> Hashes:
    return Hashes(item_hash(name, "") for name in names)


def due(
    forgetting: Forgetting,
    queue: str,
    recorded: Hashes,
    listings: Mapping[Port, dict[str, str] | None],
    now: float,
    remembered: Mapping[Port, float] | None = None,
) -> Hashes:
    return asyncio.run(forgetting.due(queue, recorded, listings, now, remembered))


def listing(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "")


ALL = [f"item-{number}" for number in range(20)]


def test_an_item_that_is_absent_for_seven_days_is_forgotten() -> None:
    forgetting = simple()
    recorded = keys(*ALL, "gone")
    assert not due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 0.0)
    assert not due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 6.9 * DAY)
    assert due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 7 * DAY) == keys("gone")


def test_an_item_that_comes_back_for_a_moment_is_kept() -> None:
    forgetting = simple()
    recorded = keys(*ALL, "gone", "back")
    due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 0.0)
    forgetting.compared(NAMES, listing(*ALL), listing(*ALL, "back"))
    forgetting.compared(NAMES, listing(*ALL, "back"), listing(*ALL))
    assert due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 7 * DAY) == keys("gone")


def test_what_comes_back_while_a_long_listing_is_looked_through_is_kept() -> None:
    many = listing(*(f"item-{number}" for number in range(2 * AT_ONCE)))

    async def compare(forgetting: Forgetting) -> None:
        forgetting.compared(NAMES, many, {**many, "back": ""})

    async def both(forgetting: Forgetting) -> None:
        await asyncio.gather(
            forgetting.due("work", keys(*many, "gone", "back"), {NAMES: many}, 0.0), compare(forgetting)
        )

    forgetting = simple()
    asyncio.run(both(forgetting))
    assert due(forgetting, "work", keys(*many, "gone", "back"), {NAMES: many}, 7 * DAY) == keys("gone")


def test_a_mishap_while_a_long_listing_is_looked_through_forgets_nothing() -> None:
    many = listing(*(f"item-{number}" for number in range(2 * AT_ONCE)))
    recorded = keys(*many, "gone")

    async def empty(forgetting: Forgetting) -> None:
        forgetting.compared(NAMES, many, {})

    async def both(forgetting: Forgetting) -> Hashes:
        found, _ = await asyncio.gather(
            forgetting.due("work", recorded, {NAMES: many}, 7 * DAY), empty(forgetting)
        )
        return found

    forgetting = simple()
    assert not due(forgetting, "work", recorded, {NAMES: many}, 0.0)
    assert not asyncio.run(both(forgetting))


@pytest.mark.parametrize("left", [0, 15])
def test_a_listing_that_shrank_forgets_nothing_and_says_so(
    left: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("wqc"), "propagate", True)
    forgetting = simple()
    recorded = keys(*ALL, "gone")
    few = listing(*ALL[:left])
    due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 0.0)
    forgetting.compared(NAMES, listing(*ALL), few)
    assert "far fewer items are listed than before: nothing is forgotten now" in caplog.text
    assert not due(forgetting, "work", recorded, {NAMES: few}, 7 * DAY)
    forgetting.compared(NAMES, few, listing(*ALL))
    assert not due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 13.9 * DAY)


def test_a_source_that_lists_what_is_not_done_says_how_long_that_is_remembered() -> None:
    """A broker's: its listing is short, and empty now and then."""
    forgetting = simple()
    recorded = keys("a", "b")
    remembered = {NAMES: 2 * DAY}
    assert not due(forgetting, "work", recorded, {NAMES: listing("a", "b")}, 0.0, remembered)
    forgetting.compared(NAMES, listing("a", "b"), listing("c"), drains=True)
    assert not due(forgetting, "work", recorded, {NAMES: listing("c")}, 1.0, remembered)
    forgetting.compared(NAMES, listing("c"), {}, drains=True)
    assert not due(forgetting, "work", recorded, {NAMES: {}}, 3 * DAY, remembered)
    forgetting.compared(NAMES, {}, listing("a"), drains=True)
    assert not due(forgetting, "work", recorded, {NAMES: None}, 6 * DAY, remembered)
    assert due(forgetting, "work", recorded, {NAMES: {}}, 6 * DAY, remembered) == keys("b")


def test_a_source_that_remembers_nothing_is_not_looked_through_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(Shared):
        async def list(self) -> Listing:
            return replace(await super().list(), remember=0.0)

    looks: list[str] = []
    due = Forgetting.due

    async def noted(self: Forgetting, queue: str, *asked: Any) -> Hashes:
        looks.append(queue)
        return await due(self, queue, *asked)

    monkeypatch.setattr(Forgetting, "due", noted)

    async def scenario() -> None:
        workflow = Workflow("forgetful")
        workflow.queue("work", workflow.source("names"))
        files = {"work": queue_files("work", "true")}
        async with managed(workflow, tmp_path, files, {"names": Forgetful({"a": 0})}) as manager:
            await manager.until_done(1)
            looks.clear()
            await asyncio.sleep(1.5)
            assert 1 <= looks.count("work") <= 4

    asyncio.run(scenario())


def test_what_is_to_be_forgotten_while_others_are_is_not_missed() -> None:
    forgotten: list[bytes] = []

    class Slow:
        def due(self) -> None:
            return None

        async def forget(self, keys: Hashes) -> None:
            await asyncio.sleep(0)
            forgotten.extend(keys)

    async def scenario() -> None:
        ledger: Any = Slow()
        store: Any = None
        recorder = Recorder("work", 60.0, store, ledger, Book(), QUICK, lambda: 0)
        recorder.forget(keys("a"))
        recording = asyncio.create_task(recorder.record())
        await asyncio.sleep(0)
        recorder.forget(keys("b"))
        await recording
        await recorder.record()
        assert forgotten == [*keys("a"), *keys("b")]

    asyncio.run(scenario())


def test_a_source_that_can_not_be_listed_forgets_nothing() -> None:
    forgetting = simple()
    recorded = keys(*ALL, "gone")
    due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 0.0)
    assert not due(forgetting, "work", recorded, {NAMES: None}, 8 * DAY)
    assert due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 9 * DAY) == keys("gone")


def test_a_source_from_which_goes_what_is_done_may_list_fewer_or_nothing() -> None:
    forgetting = simple()
    recorded = keys(*ALL, "gone")
    forgetting.compared(NAMES, {}, listing(*ALL), True)
    due(forgetting, "work", recorded, {NAMES: listing(*ALL)}, 0.0)
    forgetting.compared(NAMES, listing(*ALL), {}, True)
    assert not due(forgetting, "work", recorded, {NAMES: None}, 7 * DAY)
    assert due(forgetting, "work", recorded, {NAMES: {}}, 7 * DAY) == keys("gone")
    assert not due(forgetting, "work", recorded, {NAMES: {}}, 7.1 * DAY)
    assert due(forgetting, "work", recorded, {NAMES: {}}, 14 * DAY) == recorded


def test_a_later_queue_keeps_what_the_first_source_lists_under_its_merged_name() -> None:
    ports = [NAMES, Port("others")]
    forgetting = Forgetting(chain().graph, ports, {"first": item_hash, "second": item_hash}, DAY)
    listings = {NAMES: listing("a"), Port("others"): listing("a", "b")}
    recorded = keys("names:a", "others:b", "names:b", "a")
    for queue in ("first", "second"):
        due(forgetting, queue, recorded, listings, 0.0)
        assert due(forgetting, queue, recorded, listings, DAY) == keys("names:b", "a")
        assert not due(forgetting, queue, recorded, listings | {NAMES: {}}, 2 * DAY)


def test_a_manager_forgets_and_works_again_on_what_comes_back(tmp_path: Path) -> None:
    class Changing:
        def __init__(self) -> None:
            self.names = [*ALL, "z"]

        async def list(self) -> Listing:
            return Listing(listing(*self.names))

        async def get(self, name: str) -> str:
            return "1"

        async def close(self) -> None:
            pass

    async def scenario() -> None:
        workflow = Workflow("forgets")
        workflow.queue("work", workflow.source("names"))
        out = tmp_path / "out"
        files = {"work": queue_files("work", f"echo x >> {out}", keep=0)}
        source = Changing()
        periods = replace(QUICK, forget=0.5)
        async with managed(workflow, tmp_path, files, {"names": source}, periods) as manager:
            await manager.until_done(21)
            await asyncio.sleep(2)
            assert manager.status().queues[0].done == 21
            source.names.remove("z")
            await manager.until_done(20)
            source.names.append("z")
            await manager.until_done(21)
            assert out.read_text().count("x") == 22

    asyncio.run(scenario())
