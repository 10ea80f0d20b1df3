"""Items that fail in a pattern node whose `.failed` nobody reads are held by Jobs (promise 14)."""

import asyncio
import json
import shutil
from collections import Counter
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from support.localrun import Managed, ask, managed, queue_files
from support.sources import Holding, Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.queue import holder
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Gone, Kind, Refused, Segment

LARGE = "item.data.size > 1"
MENDED = "has(item.data.width) || item.data.size > 1"


def workflow(where: str) -> Workflow:
    made = Workflow("conditions")
    made.queue("work", made.filter("large", made.source("names"), where=where))
    return made


def running(folder: Path, source: Holding, made: Workflow) -> AbstractAsyncContextManager[Managed]:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    script = f'cat "$WORK_ITEM_FILE" > "$(mktemp {out}/XXXXXX)"'
    files = {name: queue_files(name, script) for name in made.queues}
    return managed(made, folder, files, {"names": source})


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
            status = await manager.settled(lambda each: not source.data)
            assert held(status).keys() == {"bad"}
            assert "size" in held(status)["bad"]
            assert sorted(source.told) == ["bad", "good", "small"]
        (job,) = held_jobs(tmp_path)
        assert job["spec"]["suspend"] is True
        assert job["spec"]["template"]["metadata"]["annotations"]["wqc/item"] == '{"width": 3}'
        # the next manager finds it
        async with running(tmp_path, Holding({}), workflow(LARGE)) as manager:
            assert held(await manager.settled()) == held(status)
        assert worked_on(tmp_path) == Counter(['{"size": 2}'])

    asyncio.run(scenario())


def test_what_a_node_held_that_is_gone_is_told_until_it_is_discarded(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, Holding(NAMES), workflow(LARGE)) as manager:
            await manager.settled(lambda each: bool(held(each)))
        without = Workflow("conditions")
        without.queue("work", without.source("names"))
        async with running(tmp_path, Holding({}), without) as manager:
            status = await manager.settled(lambda each: bool(each.nodes))
            assert held(status).keys() == {"bad"}
            gone = "it isn't in the workflow any more; discard lets go of what it holds"
            assert [node.blocked for node in status.nodes if node.failed] == [gone]
            await ask(tmp_path, "large", "retry")
            assert held(await manager.settled()) == {"bad": gone}
            await ask(tmp_path, "large", "discard")
            status = await manager.settled(lambda each: not held(each))
            assert not any(node.blocked for node in status.nodes)
        # it is done, and goes away like every other
        (job,) = (tmp_path / "jobs").glob("*held*")
        assert (job / "done").exists()

    asyncio.run(scenario())


def test_what_a_node_held_goes_to_a_reader_that_its_failed_has_now(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, Holding({"bad": {}}), workflow(LARGE)) as manager:
            await manager.settled(lambda each: bool(held(each)))
        read = Workflow("conditions")
        large = read.filter("large", read.source("names"), where=LARGE)
        read.queue("work", large)
        read.queue("lost", large.failed)
        async with running(tmp_path, Holding({}), read) as manager:
            status = await manager.settled(lambda each: bool(each.nodes))
            assert "retry hands on" in next(node.blocked for node in status.nodes if node.failed)
            await ask(tmp_path, "large", "retry")
            await manager.settled(lambda each: not held(each) and each.queues[1].done == 1)
        (told,) = worked_on(tmp_path)
        assert json.loads(told)["item"] == {"name": "bad", "version": "", "data": {}}

    asyncio.run(scenario())


def test_a_retry_passes_it_through_the_mended_node(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding(NAMES)
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await manager.settled(lambda each: not source.data)
            await ask(tmp_path, "large", "retry")  # it fails as before
            status = await manager.settled()
            assert held(status).keys() == {"bad"}
        async with running(tmp_path, Holding({}), workflow(MENDED)) as manager:
            assert held(await manager.settled()).keys() == {"bad"}
            await ask(tmp_path, "large", "retry", ("bad",))
            status = await manager.settled(lambda each: each.queues[0].done == 2)
            assert held(status) == {}
        assert worked_on(tmp_path) == Counter(['{"size": 2}', '{"width": 3}'])

    asyncio.run(scenario())


def test_what_a_listing_goes_on_to_show_is_delivered_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Shared(NAMES)
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await manager.settled(lambda each: held(each).keys() == {"bad"})
        async with running(tmp_path, source, workflow(MENDED)) as manager:
            await manager.settled(lambda each: each.queues[0].done == 2)
            await ask(tmp_path, "large", "retry")
            await manager.settled(lambda each: held(each) == {})
        assert worked_on(tmp_path) == Counter(['{"size": 2}', '{"width": 3}'])

    asyncio.run(scenario())


def test_what_is_discarded_is_never_held_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"bad": 1, "worse": 2})
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await manager.settled(lambda each: held(each).keys() == {"bad", "worse"})
            await ask(tmp_path, "large", "discard", ("bad",))
            await manager.settled(lambda each: held(each).keys() == {"worse"})
        source.data["bad"] = 1
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await manager.settled(lambda each: not source.data)
            assert held(manager.status()).keys() == {"worse"}
        assert worked_on(tmp_path) == Counter()

    asyncio.run(scenario())


def test_what_fails_after_a_queue_lets_its_job_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        made = Workflow("conditions")
        first = made.queue("first", made.source("names"))
        made.queue("second", made.filter("large", first, where=LARGE))
        async with running(tmp_path, Holding(NAMES), made) as manager:
            status = await manager.settled(lambda each: each.queues[0].done == 3)
            assert held(status).keys() == {"bad"}
            assert [(queue.done, queue.handing) for queue in status.queues] == [(3, 0), (1, 0)]

    asyncio.run(scenario())


def test_what_failed_in_a_source_is_held_until_somebody_reads_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"odd": {"reason": "not JSON"}, "good": 1}, {"odd": "not JSON"})
        made = Workflow("conditions")
        made.queue("work", made.source("names"))
        async with running(tmp_path, source, made) as manager:
            status = await manager.settled(lambda each: not source.data)
            (node,) = status.nodes
            assert [(node.node, each.item, each.reason) for each in node.failures] == [
                ("names", "odd", "not JSON")
            ]
        assert worked_on(tmp_path) == Counter(["1"])
        await ask(tmp_path, "names", "retry")
        async with running(tmp_path, source, made) as manager:
            assert (await manager.settled()).nodes[0].failed == 1

    asyncio.run(scenario())


def test_what_fails_after_a_source_s_failed_stream_is_held_too(tmp_path: Path) -> None:
    async def scenario() -> None:
        source = Holding({"odd": {"reason": "not JSON"}}, {"odd": "not JSON"})
        made = Workflow("conditions")
        names = made.source("names")
        made.queue("work", names)
        made.queue("mend", made.filter("large", names.failed, where=LARGE))
        async with running(tmp_path, source, made) as manager:
            status = await manager.settled(lambda each: not source.data)
            assert held(status).keys() == {"odd"}

    asyncio.run(scenario())


def test_a_full_holder_pauses_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holder, "FAILED_LIMIT", 2)

    async def scenario() -> None:
        source = Holding({"a": 0, "b": 0, "c": 0})
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await manager.until(lambda status: len(source.told) >= 2)
            source.data["good"] = {"size": 2}
            await asyncio.sleep(1.0)
            status = manager.status()
            assert status.sources[0].problem == "large holds 2 failed items: retry or discard them"
            assert status.queues[0].waiting == 1
            assert sorted(source.data) == ["c", "good"]
            await ask(tmp_path, "large", "discard", tuple(source.told))
            status = await manager.settled(lambda each: not source.data)
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

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Any:
        return await self._write(super().create(queue, manifest, data))

    async def finish(self, job: Any, ttl: float) -> None:
        await self._write(super().finish(job, ttl))

    async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
        await self._write(super().add_segment(queue, segment, kind))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("write", [1, 2, 3, 4, 5])
def test_a_crash_at_any_write_loses_and_repeats_nothing(tmp_path: Path, write: int, after: bool) -> None:
    """One item is held, then retried in the mended node: Job, Job of the queue, records, finishes."""

    async def scenario() -> None:
        source = Holding({"bad": {"width": 3}})
        async with running(tmp_path, source, workflow(LARGE)) as manager:
            await manager.settled(lambda each: not source.data)
        await ask(tmp_path, "large", "retry")
        made = workflow(MENDED)
        store = CrashingStore(tmp_path, made, write, after)
        with pytest.raises(ExceptionGroup):
            async with managed(made, tmp_path, store, {"names": Holding({})}) as manager:
                await manager.until(lambda status: False)
        assert store.dead
        async with running(tmp_path, Holding({}), made) as manager:
            status = await manager.settled(lambda each: each.queues[0].done == 1)
            assert held(status) == {}
        jobs = [json.loads(path.read_text())["job"] for path in (tmp_path / "jobs").glob("*/job.json")]
        names = Counter(job["metadata"]["labels"]["wqc/queue"] for job in jobs)
        assert names["large"] == 1
        assert 1 <= names["work"] <= 2  # an attempt that the crash ended is repeated

    asyncio.run(scenario())


def delete(store: LocalStore, job: Path) -> None:
    """By hand."""
    shutil.rmtree(job)
    store._changes.put_nowait(Gone(job.name))


def test_a_job_that_is_deleted_while_what_it_held_is_handed_on(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running(tmp_path, Holding({"bad": {"width": 3}}), workflow(LARGE)) as manager:
            await manager.settled(lambda each: held(each).keys() == {"bad"})
            await manager.state.write({"paused.work": "1"})
        await ask(tmp_path, "large", "retry")
        async with running(tmp_path, Holding({}), workflow(MENDED)) as manager:
            await manager.until(lambda each: each.queues and each.queues[0].waiting == 1)
            (job,) = (tmp_path / "jobs").glob("*held*")
            delete(manager.store, job)
            await manager.state.write({"paused.work": None})
            await manager.settled(lambda each: each.queues[0].done == 1)

    asyncio.run(scenario())


class NoneHeld(LocalStore):
    """No Job can be made that holds an item, as long as it is `ill`."""

    ill = True

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        if self.ill and queue == "large":
            raise Refused("quota")
        return await super().create(queue, manifest, data)


def test_what_waits_to_be_held_and_never_comes_is_let_go(tmp_path: Path) -> None:
    """The Job of which it is the result is deleted by hand, and the next attempt's result is another."""

    async def scenario() -> None:
        made = Workflow("conditions")
        made.queue("second", made.filter("large", made.queue("first", made.source("names")), where=LARGE))
        seen = tmp_path / "seen"
        result = f"""if test -e {seen}; then echo '{{"size": 2}}'; else touch {seen}; echo 1; fi"""
        files = {
            "first": queue_files("first", f'({result}) > "$WORK_RESULT_FILE"', result="required"),
            "second": queue_files("second", "true"),
        }
        store = NoneHeld(tmp_path, files)
        async with managed(made, tmp_path, store, {"names": ["a"]}) as manager:
            await manager.until(lambda each: any("quota" in node.blocked for node in each.nodes))
            (job,) = tmp_path.glob("jobs/*")
            delete(store, job)
            await manager.until_done(1, 1)
            store.ill = False
            await manager.settled()

    asyncio.run(scenario())
