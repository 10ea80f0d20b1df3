"""What a manager goes on with where the one before it stopped (promise 17)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from support.localrun import QUICK, Managed, managed, queue_files
from support.sources import Shared
from wqc.contract.names import item_hash
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.lanes.arrivals import STEP, Arrivals
from wqc.runtime.manager import absences
from wqc.runtime.manager.absences import Absences
from wqc.runtime.manager.forgetting import Absent
from wqc.runtime.manager.status import Status
from wqc.runtime.queue.hashes import Hashes
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Kind, Segment


@asynccontextmanager
async def running(folder: Path, source: Shared, forget: float = 1e6) -> AsyncIterator[Managed]:
    workflow = Workflow("again")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "true", keep=0)}
    periods = replace(QUICK, forget=forget)
    async with managed(workflow, folder, files, {"names": source}, periods) as manager:
        await manager.until(lambda status: status.idle)
        yield manager


def test_arrivals_are_counted_on_from_where_they_were() -> None:
    before = Arrivals(60.0, now=0.0)
    for second in range(1, 3000):
        before.add(float(second))
    seen = before.seen(3000.0)
    assert len(seen.counts) <= 3000 / STEP + 1
    after = Arrivals(60.0, now=1e9)
    after.go_on(seen, 1e9)
    assert after.interval(1e9) == before.interval(3000.0)
    assert after.interval(1e9) == pytest.approx(1.18, abs=0.05)


def test_the_next_manager_knows_how_often_items_arrive(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Shared({"backlog": 0})
        async with running(tmp_path, source) as manager:
            source.data |= {f"new {number}": number for number in range(10)}
            status = await manager.until_done(11)
            interval = status.queues[0].arrival_interval
            assert interval is not None
        async with running(tmp_path, source) as manager:
            after = manager.status().queues[0].arrival_interval
            assert after is not None
            assert interval <= after < interval + 3.0

    asyncio.run(scenario())


ALL = {f"item {number}": number for number in range(20)}


def forgotten(manager: Managed) -> bool:
    return manager.status().queues[0].done == len(ALL)


def test_the_seven_days_go_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        period = 4.0
        loop = asyncio.get_running_loop()
        source = Shared({**ALL, "gone": 0})
        async with running(tmp_path, source, period):
            pass
        del source.data["gone"]
        async with running(tmp_path, source, period):
            # the first period, in which the item was listed, may still be under way
            await asyncio.sleep(period)
            begun = loop.time()
        found: list[float] = []
        while not found:
            assert loop.time() < begun + 3 * period
            async with running(tmp_path, source, period) as manager:
                await asyncio.sleep(0.7)  # no manager lives for a whole period
                if forgotten(manager):
                    found.append(loop.time() - begun)
        assert found[0] < 2 * period

    asyncio.run(scenario())


@pytest.mark.parametrize("listed", [0, 12])
def test_a_share_that_is_not_mounted_begins_the_period_anew_for_a_new_manager_too(
    tmp_path: Path, listed: int
) -> None:
    async def scenario() -> None:
        source = Shared(ALL)
        async with running(tmp_path, source, 6.0):
            await asyncio.sleep(3.0)
        entries = (await LocalStateStore(tmp_path).read()).entries
        assert json.loads(entries["absent.work"])["listed"] == {"names": len(ALL)}
        few = Shared(dict(list(ALL.items())[:listed]))
        async with running(tmp_path, few, 6.0) as manager:
            await asyncio.sleep(4.0)
            assert manager.status().queues[0].done == len(ALL), "nothing is forgotten"
            since = (await LocalStateStore(tmp_path).read()).entries.get("absent.work")
            assert bool(since) == bool(listed)
            assert since != entries["absent.work"]

    asyncio.run(scenario())


def test_many_absent_items_are_kept_in_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absences, "AT_MOST", 10)

    async def scenario() -> None:
        store, state = LocalStore(tmp_path, {}), LocalStateStore(tmp_path)
        keys = {item_hash(str(number), "") for number in range(25)}
        loop = asyncio.get_running_loop()
        kept = Absences("again", store, state)
        await kept.keep("work", Absent(loop.time() - 100.0, Hashes(keys), {"names": 3}))
        assert len(await store.segments("work", "absent")) == 3
        for count in (25, 4, 0):
            found = await Absences("again", store, state).load((await state.read()).entries, "work")
            assert found
            assert (len(found.keys), found.listed) == (count, {"names": 3})
            assert found.keys <= keys
            assert 100.0 <= loop.time() - found.since < 110.0
            fewer = Hashes(sorted(keys)[:4] if count == 25 else ())
            await kept.keep("work", Absent(found.since, fewer, found.listed))
        assert await store.segments("work", "absent") == ()
        await kept.keep("work", None)
        assert await kept.load((await state.read()).entries, "work") is None
        # a segment that somebody deleted: the period begins anew
        await kept.keep("work", Absent(loop.time(), Hashes(keys)))
        (first, *_) = await store.segments("work", "absent")
        await store.remove_segment("work", first.name, "absent")
        assert await kept.load((await state.read()).entries, "work") is None
        await store.close()

    asyncio.run(scenario())


def test_what_comes_back_while_the_absent_are_written_is_taken_out_of_them(tmp_path: Path) -> None:
    source = Shared({**ALL, "gone": 0, "back": 0})

    class Slow(LocalStore):
        async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
            await super().add_segment(queue, segment, kind)
            if kind == "absent" and "back" not in source.data:
                source.data["back"] = 0
                await asyncio.sleep(5 * QUICK.listing)

    async def scenario() -> None:
        async with running(tmp_path, source):
            del source.data["gone"], source.data["back"]
        workflow = Workflow("again")
        workflow.queue("work", workflow.source("names"))
        store = Slow(tmp_path, {"work": queue_files("work", "true", keep=0)})
        periods = replace(QUICK, forget=100.0)
        async with managed(workflow, tmp_path, store, {"names": source}, periods) as manager:

            async def only_gone_is_kept(status: Status) -> bool:
                entries = (await manager.state.read()).entries
                found = await Absences("again", store, manager.state).load(entries, "work")
                return found is not None and found.keys == {item_hash("gone", "")}

            await manager.until(only_gone_is_kept)

    asyncio.run(scenario())
