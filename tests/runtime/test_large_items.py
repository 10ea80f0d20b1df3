"""Items from 64 KiB on: beside their Jobs up to 900 KiB, and failed beyond that (promise 10)."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

from support.localrun import QUICK, jobs, queue_files, until_idle
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.manager import Manager
from wqc.runtime.manager.requests import Request, new_request
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.source import Listing
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import LocalStore

LARGE = {"kind": "large", "text": "x" * 500 * 1024}
HUGE = {"kind": "large", "text": "x" * 1024 * 1024}


class Holding:
    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    async def list(self) -> Listing:
        return Listing(dict.fromkeys(self.data, ""), wants_done=True)

    async def get(self, name: str) -> str:
        return json.dumps(self.data[name])

    async def done(self, name: str) -> None:
        self.data.pop(name, None)

    async def close(self) -> None:
        pass


def collect(out: Path) -> str:
    out.mkdir()
    return f'wc -c < "$WORK_ITEM_FILE" > "$(mktemp {out}/XXXXXX)"'


def sizes(out: Path) -> Counter[int]:
    return Counter(int(path.read_text()) for path in out.iterdir())


def test_a_large_item_goes_through_queues_conditions_and_retries(tmp_path: Path) -> None:
    workflow = Workflow("large")
    first = workflow.queue("first", workflow.source("names"))
    workflow.queue("second", workflow.filter("some", first, where='item.data.kind == "large"'))
    workflow.queue("lost", first.failed)
    out, seen, told = tmp_path / "out", tmp_path / "seen", tmp_path / "told"
    script = f'n=$(wc -l < {seen}); echo >> {seen}; test "$n" = 1 || exit 1; {collect(out)}'
    seen.touch()
    files = {
        "first": queue_files("first", script, retries=1, at_once=1),
        "second": queue_files("second", collect(tmp_path / "second")),
        "lost": queue_files("lost", collect(told)),
    }
    # the first item's second attempt is good, both of the second item's fail
    source = Holding({"a": LARGE, "b": LARGE})
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": source}))
    size = len(json.dumps(LARGE))
    assert sizes(out) == sizes(tmp_path / "second") == Counter([size])
    (larger,) = sizes(told)
    assert larger > size
    assert [(queue.done, queue.failed) for queue in status.queues] == [(1, 1), (1, 0), (1, 0)]
    assert source.data == {}


def test_what_is_too_large_for_the_next_queue_stays_with_the_first(tmp_path: Path) -> None:
    """The failure that a reader gets is larger than the item that failed."""
    workflow = Workflow("large")
    first = workflow.queue("first", workflow.source("names"))
    workflow.queue("lost", first.failed)
    files = {
        "first": queue_files("first", "exit 1", retries=0),
        "lost": queue_files("lost", collect(tmp_path / "told")),
    }
    full = "x" * (900 * 1024 - 2)
    source = Holding({"a": full, "b": 1})
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": source}))
    assert [(queue.done, queue.failed, queue.handing) for queue in status.queues] == [(0, 1, 1), (1, 1, 0)]
    assert "bytes of JSON; 921600 fit" in status.queues[1].failures[0].reason
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": source}))
    assert [(queue.done, queue.failed, queue.handing) for queue in status.queues] == [(0, 1, 1), (1, 1, 0)]


def test_a_large_item_that_fails_in_a_node_is_held_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        data = {"a": LARGE}
        files = {"work": queue_files("work", collect(tmp_path / "out"))}
        for where, done in (("item.data.size > 1", 0), ("has(item.data.text)", 1)):
            workflow = Workflow("large")
            workflow.queue("work", workflow.filter("some", workflow.source("names"), where=where))
            if done:
                key, text = new_request(Request("some", "retry"))
                await LocalStateStore(tmp_path / "s").write({key: text})

            def is_there(status: Status, done: int = done) -> bool:
                return status.queues[0].done == done and status.nodes[-1].failed == 1 - done

            await until(workflow, tmp_path / "s", files, Holding(data), is_there)
            assert data == {}
        assert sizes(tmp_path / "out") == Counter([len(json.dumps(LARGE))])

    asyncio.run(scenario())


async def until(workflow: Workflow, state: Path, files: Any, source: Any, holds: Any) -> None:
    store = LocalStore(state, files)
    manager = Manager(workflow, store, LocalStateStore(state), {Port("names"): source}, QUICK)
    run = asyncio.create_task(manager.run())
    try:
        async with asyncio.timeout(30):
            while not (manager.status().idle and holds(manager.status())):
                await asyncio.sleep(0.02)
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await store.close()


def test_what_is_too_large_fails_stays_in_its_source_and_is_discarded(tmp_path: Path) -> None:
    async def scenario() -> None:
        workflow = Workflow("large")
        workflow.queue("work", workflow.source("names"))
        state = tmp_path / "s"
        files = {"work": queue_files("work", collect(tmp_path / "out"), at_once=1)}
        source = Holding({"huge": HUGE, "small": 1})
        store = LocalStore(state, files)
        manager = Manager(workflow, store, LocalStateStore(state), {Port("names"): source}, QUICK)
        run = asyncio.create_task(manager.run())

        async def reach(done: int, failed: int) -> Status:
            async with asyncio.timeout(30):
                while True:
                    status = manager.status()
                    if status.queues and (status.queues[0].done, status.queues[0].failed) == (done, failed):
                        return status
                    await asyncio.sleep(0.02)

        status = await reach(1, 1)
        (failure,) = status.queues[0].failures
        size = len(json.dumps(HUGE))
        assert (failure.item, failure.reason) == (
            "huge",
            f"its data is {size} bytes of JSON; {900 * 1024} fit",
        )
        assert status.queues[0].waiting == 0
        # nothing else has it: a retry takes it from there, and it may fit by now
        async with asyncio.timeout(30):
            while "small" in source.data:
                await asyncio.sleep(0.02)
        assert source.data == {"huge": HUGE}
        key, text = new_request(Request("work", "retry"))
        await LocalStateStore(state).write({key: text})
        await asyncio.sleep(1)
        await reach(1, 1)
        assert {(job["name"], job["round"]) for job in jobs(state)} >= {("huge", 0), ("huge", 1)}
        source.data["huge"] = LARGE
        key, text = new_request(Request("work", "retry"))
        await LocalStateStore(state).write({key: text})
        await reach(2, 0)
        source.data["other"] = HUGE
        await reach(2, 1)
        key, text = new_request(Request("work", "discard", ("other",)))
        await LocalStateStore(state).write({key: text})
        await reach(3, 0)
        async with asyncio.timeout(30):
            while source.data:
                await asyncio.sleep(0.02)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await store.close()
        assert sizes(tmp_path / "out") == Counter([1, len(json.dumps(LARGE))])

    asyncio.run(scenario())
