"""Items that fail in a pattern node whose `.failed` nobody reads are held by Jobs (promise 14)."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.localrun import QUICK, queue_files
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.manager import Manager
from wqc.runtime.manager.requests import Action, Request, new_request, requests
from wqc.runtime.manager.status import Status
from wqc.runtime.queue import holder
from wqc.runtime.sources.source import Listing, NoSuchItem
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import LocalStore

LARGE = "item.data.size > 1"
MENDED = "has(item.data.width) || item.data.size > 1"


class Holding:
    """A source that keeps its items until it is told that others have them."""

    def __init__(self, data: Mapping[str, Any], failed: Mapping[str, str] | None = None) -> None:
        self.data = dict(data)
        self.failed = dict(failed or {})
        self.told: list[str] = []

    async def list(self) -> Listing:
        failed = {name: why for name, why in self.failed.items() if name in self.data}
        return Listing(dict.fromkeys(self.data, ""), wants_done=True, failed=failed)

    async def get(self, name: str) -> str:
        if name not in self.data:
            raise NoSuchItem(name)
        return json.dumps(self.data[name])

    async def done(self, name: str) -> None:
        self.told.append(name)
        self.data.pop(name, None)

    async def close(self) -> None:
        pass


def workflow(where: str) -> Workflow:
    made = Workflow("conditions")
    made.queue("work", made.filter("large", made.source("names"), where=where))
    return made


@asynccontextmanager
async def running(folder: Path, source: Any, made: Workflow) -> AsyncIterator[Manager]:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    script = f'cat "$WORK_ITEM_FILE" > "$(mktemp {out}/XXXXXX)"'
    files = {name: queue_files(name, script) for name in made.queues}
    store = LocalStore(folder, files)
    manager = Manager(made, store, LocalStateStore(folder), {Port("names"): source}, QUICK)
    run = asyncio.create_task(manager.run())
    try:
        yield manager
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await store.close()


async def until(manager: Manager, folder: Path, holds: Callable[[Status], bool]) -> Status:
    """Nothing is left to do, no request is open, and it holds."""
    async with asyncio.timeout(30):
        while True:
            status = manager.status()
            asked = requests((await LocalStateStore(folder).read()).entries).values()
            if status.idle and all(each and each.done for each in asked) and holds(status):
                return status
            await asyncio.sleep(0.02)


async def ask(folder: Path, action: Action, items: tuple[str, ...] | None = None) -> None:
    key, text = new_request(Request("large", action, items))
    await LocalStateStore(folder).write({key: text})


def worked_on(folder: Path) -> Counter[str]:
    return Counter(path.read_text() for path in (folder / "out").iterdir())


def held_jobs(folder: Path) -> list[dict[str, Any]]:
    jobs = [json.loads(path.read_text())["job"] for path in (folder / "jobs").glob("*/job.json")]
    return [job for job in jobs if job["metadata"]["labels"]["wqc/queue"] == "large"]


def held(status: Status) -> dict[str, str]:
    """Why, by item."""
    (node,) = [each for each in status.nodes if each.node == "large"]
    return {each.item: each.reason for each in node.failures}


NAMES = {"good": {"size": 2}, "small": {"size": 0}, "bad": {"width": 3}}


def test_a_job_that_never_runs_holds_it_and_the_source_may_let_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding(NAMES)
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            status = await until(manager, tmp_path, lambda each: not source.data)
            assert held(status).keys() == {"bad"}
            assert "size" in held(status)["bad"]
            assert sorted(source.told) == ["bad", "good", "small"]
        (job,) = held_jobs(tmp_path)
        assert job["spec"]["suspend"] is True
        assert job["spec"]["template"]["metadata"]["annotations"]["wqc/item"] == '{"width": 3}'
        # the next manager finds it
        async with running(tmp_path, Holding({}), workflow(LARGE)) as manager:
            assert held(await until(manager, tmp_path, lambda each: True)) == held(status)
        assert worked_on(tmp_path) == Counter(['{"size": 2}'])

    asyncio.run(scenario())


def test_what_a_node_held_that_is_gone_is_told_until_it_is_discarded(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, Holding(NAMES), workflow(LARGE)) as manager:
            await until(manager, tmp_path, lambda each: bool(held(each)))
        without = Workflow("conditions")
        without.queue("work", without.source("names"))
        async with running(tmp_path, Holding({}), without) as manager:
            status = await until(manager, tmp_path, lambda each: bool(each.nodes))
            assert held(status).keys() == {"bad"}
            gone = "it isn't in the workflow any more; discard lets go of what it holds"
            assert [node.blocked for node in status.nodes if node.failed] == [gone]
            await ask(tmp_path, "retry")
            assert held(await until(manager, tmp_path, lambda each: True)) == {"bad": gone}
            await ask(tmp_path, "discard")
            status = await until(manager, tmp_path, lambda each: not held(each))
            assert not any(node.blocked for node in status.nodes)
        # it is done, and goes away like every other
        (job,) = (tmp_path / "jobs").glob("*held*")
        assert (job / "done").exists()

    asyncio.run(scenario())


def test_what_a_node_held_goes_to_a_reader_that_its_failed_has_now(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, Holding({"bad": {}}), workflow(LARGE)) as manager:
            await until(manager, tmp_path, lambda each: bool(held(each)))
        read = Workflow("conditions")
        large = read.filter("large", read.source("names"), where=LARGE)
        read.queue("work", large)
        read.queue("lost", large.failed)
        async with running(tmp_path, Holding({}), read) as manager:
            status = await until(manager, tmp_path, lambda each: bool(each.nodes))
            assert "retry hands on" in next(node.blocked for node in status.nodes if node.failed)
            await ask(tmp_path, "retry")
            await until(manager, tmp_path, lambda each: not held(each) and each.queues[1].done == 1)
        (told,) = worked_on(tmp_path)
        assert json.loads(told)["item"] == {"name": "bad", "version": "", "data": {}}

    asyncio.run(scenario())


def test_a_retry_passes_it_through_the_mended_node(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding(NAMES)
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await until(manager, tmp_path, lambda each: not source.data)
            await ask(tmp_path, "retry")  # it fails as before
            status = await until(manager, tmp_path, lambda each: True)
            assert held(status).keys() == {"bad"}
        async with running(tmp_path, Holding({}), workflow(MENDED)) as manager:
            assert held(await until(manager, tmp_path, lambda each: True)).keys() == {"bad"}
            await ask(tmp_path, "retry", ("bad",))
            status = await until(manager, tmp_path, lambda each: each.queues[0].done == 2)
            assert held(status) == {}
        assert worked_on(tmp_path) == Counter(['{"size": 2}', '{"width": 3}'])

    asyncio.run(scenario())


def test_what_a_listing_goes_on_to_show_is_delivered_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        class Listed(Holding):
            async def list(self) -> Listing:
                return Listing(dict.fromkeys(self.data, ""))

        source = Listed(NAMES)
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await until(manager, tmp_path, lambda each: held(each).keys() == {"bad"})
        async with running(tmp_path, source, workflow(MENDED)) as manager:
            await until(manager, tmp_path, lambda each: each.queues[0].done == 2)
            await ask(tmp_path, "retry")
            await until(manager, tmp_path, lambda each: held(each) == {})
        assert worked_on(tmp_path) == Counter(['{"size": 2}', '{"width": 3}'])

    asyncio.run(scenario())


def test_what_is_discarded_is_never_held_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"bad": 1, "worse": 2})
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await until(manager, tmp_path, lambda each: held(each).keys() == {"bad", "worse"})
            await ask(tmp_path, "discard", ("bad",))
            await until(manager, tmp_path, lambda each: held(each).keys() == {"worse"})
        source.data["bad"] = 1
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await until(manager, tmp_path, lambda each: not source.data)
            assert held(manager.status()).keys() == {"worse"}
        assert worked_on(tmp_path) == Counter()

    asyncio.run(scenario())


def test_what_fails_after_a_queue_lets_its_job_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = Workflow("conditions")
        first = made.queue("first", made.source("names"))
        made.queue("second", made.filter("large", first, where=LARGE))
        async with running(tmp_path, Holding(NAMES), made) as manager:
            status = await until(manager, tmp_path, lambda each: each.queues[0].done == 3)
            assert held(status).keys() == {"bad"}
            assert [(queue.done, queue.handing) for queue in status.queues] == [(3, 0), (1, 0)]

    asyncio.run(scenario())


def test_what_failed_in_a_source_is_held_until_somebody_reads_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"odd": {"reason": "not JSON"}, "good": 1}, {"odd": "not JSON"})
        made = Workflow("conditions")
        made.queue("work", made.source("names"))
        async with running(tmp_path, source, made) as manager:
            status = await until(manager, tmp_path, lambda each: not source.data)
            (node,) = status.nodes
            assert [(node.node, each.item, each.reason) for each in node.failures] == [
                ("names", "odd", "not JSON")
            ]
        assert worked_on(tmp_path) == Counter(["1"])
        key, text = new_request(Request("names", "retry"))
        await LocalStateStore(tmp_path).write({key: text})
        async with running(tmp_path, source, made) as manager:
            assert (await until(manager, tmp_path, lambda each: True)).nodes[0].failed == 1

    asyncio.run(scenario())


def test_what_fails_after_a_source_s_failed_stream_is_held_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"odd": {"reason": "not JSON"}}, {"odd": "not JSON"})
        made = Workflow("conditions")
        names = made.source("names")
        made.queue("work", names)
        made.queue("mend", made.filter("large", names.failed, where=LARGE))
        async with running(tmp_path, source, made) as manager:
            status = await until(manager, tmp_path, lambda each: not source.data)
            assert held(status).keys() == {"odd"}

    asyncio.run(scenario())


def test_a_full_holder_pauses_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holder, "FAILED_LIMIT", 2)

    async def scenario() -> None:
        source = Holding({"a": 0, "b": 0, "c": 0})
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            async with asyncio.timeout(30):
                while len(source.told) < 2:
                    await asyncio.sleep(0.02)
            source.data["good"] = {"size": 2}
            await asyncio.sleep(1.0)
            status = manager.status()
            assert status.sources[0].problem == "large holds 2 failed items"
            assert status.queues[0].waiting == 1
            assert sorted(source.data) == ["c", "good"]
            await ask(tmp_path, "discard", tuple(source.told))
            status = await until(manager, tmp_path, lambda each: not source.data)
            assert held(status).keys() == {"c"}
        assert worked_on(tmp_path) == Counter(['{"size": 2}'])

    asyncio.run(scenario())


class Crash(Exception):
    pass


class CrashingStore(LocalStore):
    """Dies before or after its `left`th write."""

    def __init__(self, folder: Path, made: Workflow, left: int, after: bool) -> None:
        super().__init__(folder, {name: queue_files(name, "true") for name in made.queues})
        self.left, self.after, self.dead = left, after, False

    async def _write(self, work: Any) -> Any:
        if self.dead:
            work.close()
            raise Crash
        self.left -= 1
        if self.left or self.after:
            answer = await work
            if self.left:
                return answer
        else:
            work.close()
        self.dead = True
        raise Crash

    async def create(self, queue: str, manifest: dict[str, Any]) -> Any:
        return await self._write(super().create(queue, manifest))

    async def finish(self, job: Any, ttl: float) -> None:
        await self._write(super().finish(job, ttl))

    async def add_segment(self, queue: str, segment: Any) -> None:
        await self._write(super().add_segment(queue, segment))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("write", [1, 2, 3, 4, 5])
def test_a_crash_at_any_write_loses_and_repeats_nothing(tmp_path: Path, write: int, after: bool) -> None:
    """One item is held, then retried in the mended node: Job, Job of the queue, records, finishes."""

    async def scenario() -> None:
        source = Holding({"bad": {"width": 3}})
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await until(manager, tmp_path, lambda each: not source.data)
        await ask(tmp_path, "retry")
        made = workflow(MENDED)
        store = CrashingStore(tmp_path, made, write, after)
        manager = Manager(made, store, LocalStateStore(tmp_path), {Port("names"): Holding({})}, QUICK)
        with pytest.raises(ExceptionGroup):
            async with asyncio.timeout(30):
                await manager.run()
        await store.close()
        async with running(tmp_path, Holding({}), made) as manager:
            status = await until(manager, tmp_path, lambda each: each.queues[0].done == 1)
            assert held(status) == {}
        jobs = [json.loads(path.read_text())["job"] for path in (tmp_path / "jobs").glob("*/job.json")]
        names = Counter(job["metadata"]["labels"]["wqc/queue"] for job in jobs)
        assert names["large"] == 1
        assert 1 <= names["work"] <= 2  # an attempt that the crash ended is repeated

    asyncio.run(scenario())
