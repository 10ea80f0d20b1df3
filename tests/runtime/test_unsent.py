"""Of a long listing the manager takes up no more items at a time than its stations can soon do with."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.localrun import jobs, managed, queue_files
from support.sources import Shared
from wqc.runtime.graph.graph import Delivery, Line, Port
from wqc.runtime.graph.origin import Offer
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.lanes.scaler import Scaler
from wqc.runtime.manager import feed, stations, unsent
from wqc.runtime.manager.stations import Stations
from wqc.runtime.manager.status import Status
from wqc.runtime.manager.unsent import Unsent
from wqc.runtime.queue import holder
from wqc.runtime.queue.jobstation import JobStation
from wqc.runtime.sources.source import Listing
from wqc.runtime.stores.local.state import LocalStateStore

MANY = 60
NAMES = [f"item {number:02}" for number in range(MANY)]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stations, "ENOUGH", 5)
    monkeypatch.setattr(unsent, "IN_ONE_GO", 3)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a queue, or a holder, was offered each item."""
    found: Counter[str] = Counter()
    offer = JobStation.offer

    def noted(self: JobStation, one: Offer) -> None:
        found[one.delivery.name] += 1
        offer(self, one)

    monkeypatch.setattr(JobStation, "offer", noted)
    return found


def simple(*queues: str) -> Workflow:
    made = Workflow("long")
    both = made.copier("both", made.source("names"))
    for queue in queues:
        made.queue(queue, both)
    return made


def waiting(status: Status) -> Sequence[int]:
    return [queue.waiting for queue in status.queues]


def test_all_are_worked_on_in_order_and_few_wait_at_a_time(tmp_path: Path, offered: Counter[str]) -> None:
    out = tmp_path / "out"
    files = {"work": queue_files("work", f'cat "$WORK_ITEM_FILE" >> {out}', at_once=1)}
    worst = 0

    async def scenario() -> None:
        nonlocal worst

        def all_done(status: Status) -> bool:
            nonlocal worst
            if not status.queues or not status.queues[0].knows or not offered:
                return False
            queue = status.queues[0]
            worst = max(worst, len(offered) - queue.done - queue.running)
            total = queue.waiting + queue.running + queue.done
            # what ended and isn't recorded yet is in none of them
            assert MANY - 30 <= total <= MANY, queue
            return status.idle

        async with managed(simple("work"), tmp_path, files, {"names": NAMES}) as manager:
            status = await manager.until(all_done, 90)
            assert status.queues[0].done == MANY

    asyncio.run(scenario())
    assert out.read_text() == "".join(f'"{name}"' for name in NAMES)
    assert set(offered.values()) == {1}
    assert worst < MANY - 10


def test_what_is_listed_counts_as_waiting_and_a_queue_that_is_paused_stalls(tmp_path: Path) -> None:
    async def scenario() -> None:
        await LocalStateStore(tmp_path).write({"paused.work": ""})
        files = {"work": queue_files("work", "true")}
        async with managed(simple("work"), tmp_path, files, {"names": NAMES}) as manager:
            status = await manager.until(lambda status: status.stalled)
            assert (waiting(status), status.idle) == ([MANY], False)

    asyncio.run(scenario())


def test_a_queue_that_is_paused_keeps_nothing_from_another(tmp_path: Path) -> None:
    async def scenario() -> None:
        await LocalStateStore(tmp_path).write({"paused.slow": ""})
        files = {name: queue_files(name, "true") for name in ("slow", "fast")}
        async with managed(simple("slow", "fast"), tmp_path, files, {"names": NAMES}) as manager:
            status = await manager.until_done(0, MANY, seconds=60)
            assert waiting(status) == [MANY, 0]

    asyncio.run(scenario())


def test_what_goes_before_its_turn_is_not_begun_and_what_comes_is(
    tmp_path: Path, offered: Counter[str]
) -> None:
    """Also an item that has another version by then, and one that went and came again."""

    class Versioned(Shared):
        versions = dict.fromkeys(NAMES, "1")

        async def list(self) -> Listing:
            return Listing(dict(self.versions))

    async def scenario() -> None:
        source = Versioned(dict.fromkeys([*NAMES, "new"], 1))
        await LocalStateStore(tmp_path).write({"paused.work": ""})
        files = {"work": queue_files("work", "true", rework="on_change")}
        async with managed(simple("work"), tmp_path, files, {"names": source}) as manager:
            await manager.until(lambda status: status.stalled)
            last = source.versions.pop(NAMES[-1])
            source.versions[NAMES[0]] = source.versions[NAMES[-2]] = "2"
            source.versions["new"] = "1"
            begun = len(offered)
            await manager.until(lambda status: status.stalled and waiting(status) == [MANY + 1 + 2 - 1])
            source.versions[NAMES[-1]] = last
            await asyncio.sleep(0.5)
            assert len(offered) == begun
            await manager.state.write({"paused.work": None})
            status = await manager.until(lambda status: status.idle, 60)
            assert status.queues[0].done == MANY + 1

    asyncio.run(scenario())
    versions = dict.fromkeys([*NAMES, "new"], "1") | {NAMES[0]: "2", NAMES[-2]: "2"}
    assert Counter((job["name"], job["version"]) for job in jobs(tmp_path)) == Counter(versions.items())


def test_what_must_be_read_first_is_read_a_few_at_a_time(tmp_path: Path) -> None:
    class Read(Shared):
        asked = 0

        async def get(self, name: str) -> str:
            self.asked += 1
            return await super().get(name)

    async def scenario() -> None:
        workflow = Workflow("long")
        workflow.queue("work", workflow.filter("some", workflow.source("names"), where="item.data % 2 == 0"))
        source = Read({name: number for number, name in enumerate(NAMES)})
        await LocalStateStore(tmp_path).write({"paused.work": ""})
        async with managed(
            workflow, tmp_path, {"work": queue_files("work", "true")}, {"names": source}
        ) as manager:
            status = await manager.until(lambda status: status.stalled)
            assert source.asked <= 2 * (5 + 3)
            # half of those before them came there, so half of the others are likely to
            assert MANY / 2 - 3 <= waiting(status)[0] <= MANY / 2 + 3
            await manager.state.write({"paused.work": None})
            await manager.until(lambda status: status.idle and status.queues[0].done == MANY / 2, 60)
            assert source.asked == MANY + MANY / 2  # and what a Job is made of, when that is made

    asyncio.run(scenario())


def test_a_lane_that_is_full_keeps_nothing_from_another() -> None:
    class Waiting:
        def __init__(self, **counts: int) -> None:
            self.counts = counts

        def waiting_in(self, line: Line) -> int:
            return self.counts[line.lane]

    workflow = Workflow("lanes")
    workflow.queue("work", workflow.sharder("spread", workflow.source("names"), "item.name", ["a", "b"]))
    made = Stations(workflow, None, None, {}, {}, None)  # type: ignore[arg-type]
    for counts, has_room in (({"a": 5, "b": 4}, True), ({"a": 5, "b": 5}, False), ({"a": 0, "b": 9}, True)):
        made.all["work"] = Waiting(**counts)  # type: ignore[assignment]
        assert made.has_room(Port("names")) is has_room


@pytest.mark.parametrize("can_be_read", [True, False])
def test_a_source_with_much_keeps_nothing_of_another_from_its_turn(tmp_path: Path, can_be_read: bool) -> None:
    class Unreadable(Shared):
        async def get(self, name: str) -> str:
            return await super().get(name if can_be_read else "none")

    async def scenario() -> None:
        workflow = Workflow("two")
        inputs = {"much": workflow.source("films"), "little": workflow.source("urgent")}
        workflow.queue("work", workflow.merger("both", inputs))
        films, urgent = Unreadable(dict.fromkeys(NAMES, 1)), Shared({})
        files = {"work": queue_files("work", "sleep 0.2", at_once=1)}
        async with managed(workflow, tmp_path, files, {"films": films, "urgent": urgent}) as manager:
            if can_be_read:
                await manager.until(lambda status: status.queues and status.queues[0].running)
            else:
                await manager.until(lambda status: status.queues and status.queues[0].troubled.count)
            urgent.data["now"] = 1
            await manager.until(lambda status: "little:now" in {job["name"] for job in jobs(tmp_path)})
            assert len(jobs(tmp_path)) < MANY / 2
            assert waiting(manager.status())[0] > MANY / 2

    asyncio.run(scenario())


def test_what_cannot_be_read_keeps_nothing_that_comes_behind_it(tmp_path: Path) -> None:
    class Torn(Shared):
        async def get(self, name: str) -> str:
            return await super().get(name if name >= NAMES[20] else "none")

    async def scenario() -> None:
        source = Torn(dict.fromkeys(NAMES, 1))
        files = {"work": queue_files("work", "true")}
        async with managed(simple("work"), tmp_path, files, {"names": source}) as manager:
            status = await manager.until_done(MANY - 20, seconds=60)
            assert (status.queues[0].troubled.count, waiting(status)) == (20, [20])

    asyncio.run(scenario())


def test_there_is_an_end_to_what_one_queue_may_keep_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MOST_OPEN", 20)

    async def scenario() -> None:
        await LocalStateStore(tmp_path).write({"paused.slow": ""})
        files = {name: queue_files(name, "true") for name in ("slow", "fast")}
        async with managed(simple("slow", "fast"), tmp_path, files, {"names": NAMES}) as manager:
            status = await manager.until(lambda status: status.stalled)
            assert 20 <= status.queues[1].done < 20 + unsent.IN_ONE_GO
            assert "also for queues that have room" in status.sources[0].problem
            await manager.state.write({"paused.slow": None})
            status = await manager.until_done(MANY, MANY, seconds=60)
            assert status.sources[0].problem == ""

    asyncio.run(scenario())


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=2), max_size=9), max_size=5))
def test_everything_is_taken_once_in_order(listings: list[dict[str, str]]) -> None:
    found = Unsent()
    for each in listings:
        found.add(each)
    expected = [entry for each in listings for entry in each.items()]
    assert len(found) == len(expected)
    taken: list[tuple[str, str]] = []
    while more := found.take():
        taken += more
        assert len(more) <= unsent.IN_ONE_GO
        assert len(found) == len(expected) - len(taken)
    assert taken == expected
    assert not found


@given(st.lists(st.dictionaries(st.text(max_size=1), st.sampled_from("ab"), max_size=4), min_size=1))
def test_what_is_kept_is_what_is_listed_once_each(listings: list[dict[str, str]]) -> None:
    found = Unsent()
    for each in listings:
        found.add(each)
    listed = listings[-1]
    asyncio.run(found.keep(listed))
    assert len(found) == len(listed)
    taken: list[tuple[str, str]] = []
    while more := found.take():
        taken += more
    every = [entry for each in listings for entry in each.items() if listed.get(entry[0]) == entry[1]]
    assert taken == list(dict.fromkeys(every))


def test_what_changes_while_nothing_is_sent_does_not_pile_up(tmp_path: Path) -> None:
    class Changing(Shared):
        listings = 0

        async def list(self) -> Listing:
            self.listings += 1
            return Listing(dict.fromkeys(NAMES[:40], "") | dict.fromkeys(NAMES[40:], str(self.listings)))

    async def scenario() -> None:
        source = Changing(dict.fromkeys(NAMES, 1))
        await LocalStateStore(tmp_path).write({"paused.work": ""})
        files = {"work": queue_files("work", "true", rework="on_change")}
        async with managed(simple("work"), tmp_path, files, {"names": source}) as manager:
            await manager.until(lambda _: source.listings > 15)
            assert MANY <= waiting(manager.status())[0] <= 2 * MANY + 5 + 3

    asyncio.run(scenario())


def test_the_rest_is_likely_to_go_as_those_before_it_went() -> None:
    found = Unsent()
    found.add(dict.fromkeys(map(str, range(103)), ""))
    found.take()
    for lane in ("a", "b", "a"):
        found.sent([Delivery("work", lane, "", ""), Delivery("other", "", "", "")])
    found.sent([])
    assert [found.likely("work", lane) for lane in ("a", "b", "c")] == [50, 25, 0]
    assert found.likely("other", "") == 75


def test_that_the_first_are_done_says_nothing_of_the_last() -> None:
    """As after a new manager has begun with a source of which half is done."""
    found = Unsent()
    found.add(dict.fromkeys(map(str, range(100)), ""))
    for _ in range(100_000):
        found.sent([])
    assert found.likely("work", "") == 0
    for _ in range(4 * unsent.LATELY):
        found.sent([Delivery("work", "", "", "")])
    assert 95 <= found.likely("work", "") <= 100


def test_of_a_source_whose_items_all_fail_on_their_way_few_are_taken_up(
    tmp_path: Path, offered: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holder, "FAILED_LIMIT", 4)

    async def scenario() -> None:
        workflow = Workflow("long")
        workflow.queue("work", workflow.filter("some", workflow.source("names"), where="item.data.size > 1"))
        source = Shared(dict.fromkeys(NAMES, 1))
        async with managed(
            workflow, tmp_path, {"work": queue_files("work", "true")}, {"names": source}
        ) as manager:
            status = await manager.until(lambda status: status.stalled)
            assert {each.node: each.failed for each in status.nodes}["some"] == 4
            assert not status.idle
            assert len(offered) <= 4 + 5 + 3

    asyncio.run(scenario())


def test_what_comes_while_the_first_listing_is_worked_off_has_arrived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived: list[str] = []
    monkeypatch.setattr(Scaler, "arrived", lambda *_: arrived.append(""))

    async def scenario() -> None:
        source = Shared(dict.fromkeys(NAMES, 1))
        await LocalStateStore(tmp_path).write({"paused.work": ""})
        async with managed(
            simple("work"), tmp_path, {"work": queue_files("work", "true")}, {"names": source}
        ) as manager:
            await manager.until(lambda status: status.stalled)
            source.data |= dict.fromkeys(("one", "two", "three", "four"), 1)
            await manager.until(lambda status: status.stalled and waiting(status) == [MANY + 4])
            await manager.state.write({"paused.work": None})
            await manager.until(lambda status: status.idle, 60)

    asyncio.run(scenario())
    assert len(arrived) == 4
