"""Pause, retry and discard: what people ask is done once, wherever the manager crashes meanwhile."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from support.localrun import Managed, ask, jobs, managed, queue_files
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.requests import KEPT, Action, Request, requests
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.state import State

FAILS = "test ! -e {broken}; echo $(cat $WORK_ITEM_FILE) >> {out}"


class Crash(Exception):
    pass


class Crashing(LocalStateStore):
    """Crashes instead of the `before`th write, or right after it is made."""

    def __init__(self, folder: Path, before: int, made: bool) -> None:
        super().__init__(folder)
        self.left = before
        self.made = made

    async def write(self, changes: Mapping[str, str | None], version: str | None = None) -> State:
        self.left -= 1
        if self.left or self.made:
            written = await super().write(changes, version)
            if self.left:
                return written
        raise Crash


def running(
    folder: Path, state: LocalStateStore | None = None, items: Sequence[str] = ("a", "b", "c")
) -> AbstractAsyncContextManager[Managed]:
    """A queue that fails while `broken` is there, and notes each item that gets through."""
    workflow = Workflow("asked")
    workflow.queue("work", workflow.source("names"))
    script = FAILS.format(broken=folder / "broken", out=folder / "out")
    files = {"work": queue_files("work", script, retries=1)}
    return managed(workflow, folder, files, {"names": list(items)}, state=state)


async def settled(manager: Managed, failed: int) -> None:
    await manager.settled(lambda status: status.queues[0].failed == failed)


def started(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((job["name"], job["round"], job["attempt"]) for job in jobs(folder))


async def answer(folder: Path, key: str) -> Request:
    found = requests((await LocalStateStore(folder).read()).entries)[key]
    assert found
    return found


FIRST_ROUND = [(name, 0, attempt) for name in "abc" for attempt in (1, 2)]


def test_failed_items_are_tried_again_in_a_new_round(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "broken").touch()
        async with running(tmp_path) as manager:
            await settled(manager, failed=3)
            assert started(tmp_path) == FIRST_ROUND
            key = await ask(tmp_path, "work", "retry", ("b", "nobody"))
            await settled(manager, failed=3)
            assert started(tmp_path) == sorted([*FIRST_ROUND, ("b", 1, 1), ("b", 1, 2)])
            asked = await answer(tmp_path, key)
            assert (asked.count, asked.missing) == (1, ("nobody",))
            (tmp_path / "broken").unlink()
            key = await ask(tmp_path, "work", "retry")
            await settled(manager, failed=0)
            assert (await answer(tmp_path, key)).count == 3
            assert manager.status().queues[0].done == 3
        assert sorted((tmp_path / "out").read_text().split()) == ['"a"', '"b"', '"c"']

    asyncio.run(scenario())


def test_an_item_is_called_by_its_name_or_by_what_people_see_of_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "broken").touch()
        names = ["a\x00b", "c\nd", "c\\nd", "e\x1b[31m"]
        async with running(tmp_path, items=names) as manager:
            await settled(manager, failed=4)
            # "c\\nd" is the name of one item, and what is seen of another
            key = await ask(tmp_path, "work", "discard", ("a\\x00b", "c\\nd", "e\x1b[31m", "e\\x1b[32m"))
            await settled(manager, failed=1)
            asked = await answer(tmp_path, key)
            assert (asked.count, asked.missing) == (3, ("e\\x1b[32m",))
            (held,) = manager.status().queues[0].failures
            assert held.item == "c\nd"
            await ask(tmp_path, "work", "discard", ("c\\nd",))
            await settled(manager, failed=0)

    asyncio.run(scenario())


def test_a_discarded_item_is_recorded_and_never_tried_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "broken").touch()
        async with running(tmp_path) as manager:
            await settled(manager, failed=3)
            await ask(tmp_path, "work", "discard", ("a",))
            await settled(manager, failed=2)
            assert manager.status().queues[0].done == 1
        (tmp_path / "broken").unlink()
        async with running(tmp_path) as manager:
            await settled(manager, failed=2)
            await ask(tmp_path, "work", "retry")
            await settled(manager, failed=0)
        assert sorted((tmp_path / "out").read_text().split()) == ['"b"', '"c"']

    asyncio.run(scenario())


@pytest.mark.parametrize("action", ["retry", "discard"])
@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("write", [1, 2])
def test_a_crash_neither_loses_a_request_nor_repeats_it(
    tmp_path: Path, action: Action, made: bool, write: int
) -> None:
    async def scenario() -> None:
        (tmp_path / "broken").touch()
        async with running(tmp_path) as manager:
            await settled(manager, failed=3)
        key = await ask(tmp_path, "work", action)
        state = Crashing(tmp_path, write, made)
        async with running(tmp_path, state) as manager:
            await manager.until(lambda status: state.left <= 0)
        async with running(tmp_path) as manager:
            await settled(manager, failed=3 if action == "retry" else 0)
            assert (await answer(tmp_path, key)).count == 3
        rounds = {number for _, number, _ in started(tmp_path)}
        assert rounds == ({0, 1} if action == "retry" else {0})

    asyncio.run(scenario())


def test_a_paused_queue_starts_nothing_until_it_is_resumed(tmp_path: Path) -> None:
    async def scenario() -> None:
        people = LocalStateStore(tmp_path)
        await people.write({"paused.work": ""})
        async with running(tmp_path) as manager:
            await manager.until(lambda status: status.queues and status.queues[0].waiting == 3)
            await asyncio.sleep(0.5)
            assert not jobs(tmp_path)
            queue = manager.status().queues[0]
            assert (queue.blocked_by, queue.blocked) == ("paused", "paused by wqc pause")
            await people.write({"paused.work": None})
            await settled(manager, failed=0)
            assert manager.status().queues[0].done == 3

    asyncio.run(scenario())


def test_what_is_said_of_a_queue_that_is_renamed_is_said_of_it_by_its_name_of_now(tmp_path: Path) -> None:
    async def scenario() -> None:
        people = LocalStateStore(tmp_path)
        kept = {"paused.": "", "rework.": "never", "rollout.": "{}", "absent.": "{}", "lost.": "1"}
        said = {"owner.": "another object", "arrivals.": "{}", **kept}
        await people.write({prefix + "old": text for prefix, text in said.items()})
        workflow = Workflow("asked")
        workflow.queue("new", workflow.source("names"))
        files = {"new": queue_files("new", "true", formerly="old")}
        async with managed(workflow, tmp_path, files, {"names": ["a"]}) as manager:
            status = await manager.until(lambda status: status.queues and status.queues[0].knows)
            assert status.queues[0].blocked == "paused by wqc pause"
            entries = (await people.read()).entries
        assert not [key for key in entries if key.endswith(".old")]
        assert {prefix: entries.get(prefix + "new") for prefix in kept} == kept
        assert "owner.new" not in entries

    asyncio.run(scenario())


def test_requests_that_can_not_be_are_dropped_and_old_ones_forgotten(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        people = LocalStateStore(tmp_path)
        await people.write({"request.0": "not JSON", "other": "kept"})
        stranger = await ask(tmp_path, "nobody", "retry", ("x",))
        async with running(tmp_path) as manager:
            await settled(manager, failed=0)
            entries = (await people.read()).entries
            assert ("request.0" in entries, entries["other"]) == (False, "kept")
            assert (await answer(tmp_path, stranger)).missing == ("x",)
            told = [each.facts for each in caplog.records if each.msg == "nothing to retry: no failed item"]  # type: ignore[attr-defined]
            assert told == [{"queue": "nobody", "item": "x"}]
            for _ in range(KEPT + 3):
                await ask(tmp_path, "work", "discard")
            await settled(manager, failed=0)
            assert len(requests((await people.read()).entries)) == KEPT

    asyncio.run(scenario())


def test_a_retry_in_a_paused_queue_is_what_a_person_is_waited_for(tmp_path: Path) -> None:
    """Until the queue goes on; so it is for the next manager too."""
    workflow = Workflow("paused")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "exit 3", retries=0)}

    async def scenario() -> None:
        async with managed(workflow, tmp_path, files, {"names": ["a"]}) as manager:
            await manager.until(lambda status: status.idle and status.queues[0].failed == 1)
            await manager.state.write({"paused.work": ""})
            await ask(tmp_path, "work", "retry", None)
            await manager.until(lambda status: status.stalled and status.queues[0].waiting == 1)
        async with managed(workflow, tmp_path, files, {"names": ["a"]}) as manager:
            await manager.until(lambda status: status.stalled)
            await manager.state.write({"paused.work": None})
            await manager.until(lambda status: status.idle and status.queues[0].failed == 1)
            assert len(jobs(tmp_path)) == 2

    asyncio.run(scenario())
