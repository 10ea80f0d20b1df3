"""What every JobStore must do: one suite, which the local and the Kubernetes store both pass."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import pytest

from wqc.contract.names import held_job_name, item_hash, job_name, object_name
from wqc.contract.settings import Lane, Parallelism
from wqc.runtime.queue.attempt import Identity, job_manifest
from wqc.runtime.queue.heldjob import held_job
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.state import Conflict, State, StateStore
from wqc.runtime.stores.store import AlreadyExists, Change, Changed, Gone, JobStore, Listed, Segment

PREFIX = "demo-work"
NODE = "large.east"
"""A pattern node whose failed items nobody reads."""
Found = Callable[[Change], bool]


class World(Protocol):
    """A place where Jobs run, with a queue `work` of a workflow `demo`; stores come and go."""

    def open(self) -> JobStore: ...

    def state(self) -> StateStore: ...

    def template(self, result: str = "", code: int = 0, takes: float = 0.0) -> dict[str, Any]:
        """job.yaml of a worker that takes so long, writes the result, and exits with the code."""
        ...


@asynccontextmanager
async def opened(world: World) -> AsyncIterator[tuple[JobStore, dict[str, Any], "Changes"]]:
    """A store, the object that Jobs belong to, and the changes from the first listing on."""
    store = world.open()
    try:
        files = await store.files("work")
        await store.holds(NODE)
        changes = Changes(store)
        try:
            yield store, files.owner, changes
        finally:
            await changes.close()
    finally:
        await store.close()


class Changes:
    def __init__(self, store: JobStore) -> None:
        self.seen: list[Change] = []
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._read(store))

    async def _read(self, store: JobStore) -> None:
        async for change in store.changes():
            self.seen.append(change)
            self._more.set()

    async def until(self, found: Found) -> Change:
        async with asyncio.timeout(60):
            while True:
                for change in self.seen:
                    if found(change):
                        return change
                self._more.clear()
                await self._more.wait()

    async def job(self, name: str, phase: str) -> Job:
        change = await self.until(
            lambda each: isinstance(each, Changed) and each.job.job == name and each.job.phase == phase
        )
        assert isinstance(change, Changed)
        return change.job

    async def listed(self) -> tuple[Job, ...]:
        change = await self.until(lambda each: isinstance(each, Listed))
        assert isinstance(change, Listed)
        return change.jobs

    async def found(self, name: str) -> Job:
        """A Job that is listed, once it is clear what became of it."""
        (job,) = [job for job in await self.listed() if job.job == name]
        if not job.unclear:
            return job
        change = await self.until(lambda each: isinstance(each, Changed) and each.job.job == name)
        assert isinstance(change, Changed)
        return change.job

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def manifest(
    template: dict[str, Any], owner: dict[str, Any], item: str, data: str = '{"n":1}', attempt: int = 1
) -> dict[str, Any]:
    name = job_name(object_name("demo", "work"), item_hash(item, ""), attempt)
    identity = Identity(item, "v1", 0, attempt, attempt - 1)
    return job_manifest(
        template, owner, "demo", "work", Lane("east", Parallelism(1, 1)), name, identity, data
    )


class StoreSuite:
    """A subclass has a fixture `world`; items differ from test to test, so that one world serves all."""

    def run(self, scenario: Awaitable[None]) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(120):
                await scenario

        asyncio.run(bounded())

    def test_a_queue_has_its_files(self, world: World) -> None:
        async def scenario() -> None:
            store = world.open()
            files = await store.files("work")
            assert "queue: work" in files.settings
            with pytest.raises(LookupError):
                await store.files("absent")
            await store.close()

        self.run(scenario())

    def test_a_job_runs_and_its_result_is_known(self, world: World) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                body = manifest(
                    world.template(result='{"frames":7}'), owner, "runs\n☃", '{"path":"/a b","n":2}'
                )
                made = await store.create("work", body)
                assert (made.phase, made.queue, made.lane, made.name) == ("active", "work", "east", "runs\n☃")
                job = await changes.job(made.job, "succeeded")
                assert (job.exit_code, job.message) == (0, '{"frames":7}')
                assert (job.version, job.attempt, job.failures) == ("v1", 1, 0)
                assert job.data == '{"path":"/a b","n":2}'
                assert job.finished is not None
                assert job.created - 1 <= job.finished
                assert not job.done

        self.run(scenario())

    def test_a_job_fails_with_its_exit_code(self, world: World) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template(code=65), owner, "fails"))
                job = await changes.job(made.job, "failed")
                assert (job.exit_code, job.reason) == (65, "exit code 65")

        self.run(scenario())

    def test_a_name_is_used_once(self, world: World) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                body = manifest(world.template(), owner, "once")
                made = await store.create("work", body)
                with pytest.raises(AlreadyExists):
                    await store.create("work", body)
                found = await store.get("work", made.job)
                assert found is not None
                assert (found.name, found.attempt) == ("once", 1)
                assert await store.get("work", manifest({**body}, owner, "never")["metadata"]["name"]) is None

        self.run(scenario())

    def test_a_new_store_finds_what_an_earlier_one_left(self, world: World) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template(result="[3]"), owner, "left"))
                before = await changes.job(made.job, "succeeded")
            async with opened(world) as (_, _, changes):
                (after,) = [job for job in await changes.listed() if job.job == made.job]
                assert (after.phase, after.message, after.data) == ("succeeded", "[3]", before.data)
                assert after.finished == before.finished

        self.run(scenario())

    def test_a_done_job_stays_for_its_time_and_then_goes(self, world: World) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template(), owner, "done"))
                job = await changes.job(made.job, "succeeded")
                await store.finish(job, 3.0)
                marked = await changes.until(lambda each: isinstance(each, Changed) and each.job.done)
                assert isinstance(marked, Changed)
                assert marked.job.job == made.job
                await changes.until(lambda each: each == Gone(made.job))
                assert await store.get("work", made.job) is None
                await store.finish(job, 3.0)

        self.run(scenario())

    def test_a_job_that_holds_an_item_never_runs_and_goes_when_it_is_done(self, world: World) -> None:
        async def scenario() -> None:
            name = held_job_name("demo", NODE, "odd\n☃", "v1", 1)
            async with opened(world) as (store, _, changes):
                await changes.listed()
                owner = await store.holds(NODE)
                identity = Identity("odd\n☃", "v1", 0, 1, 0)
                body = held_job(owner, "demo", NODE, name, identity, '{"n":1}', "no such key: size")
                made = await store.create(NODE, body)
                with pytest.raises(AlreadyExists):
                    await store.create(NODE, body)
                assert (made.held, made.phase, made.reason) == (True, "failed", "no such key: size")
                assert (made.queue, made.name, made.version, made.data) == (
                    NODE,
                    "odd\n☃",
                    "v1",
                    '{"n":1}',
                )
                await store.add_segment(NODE, Segment("demo-large.east-ledger-one", b"x"))
                assert [each.content for each in await store.segments(NODE)] == [b"x"]
                await store.remove_segment(NODE, "demo-large.east-ledger-one")
            await asyncio.sleep(1)
            async with opened(world) as (store, _, changes):
                (found,) = [job for job in await changes.listed() if job.job == name]
                assert (found.held, found.phase, found.reason) == (True, "failed", "no such key: size")
                assert (found.data, found.running, found.done) == ('{"n":1}', False, False)
                await store.finish(found, 2.0)
                await changes.until(
                    lambda each: isinstance(each, Changed) and each.job.job == name and each.job.done
                )
                await changes.until(lambda each: each == Gone(name))
                assert await store.get(NODE, name) is None

        self.run(scenario())

    def test_a_large_item_is_apart_from_its_job(self, world: World) -> None:
        async def scenario() -> None:
            data = json.dumps({"text": "☃\n" * 60_000}, ensure_ascii=False)
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                body = manifest(world.template(), owner, "large", data)
                made = await store.create("work", body, data)
                assert (made.content, made.data) == ("apart", "")
                assert await store.data(made) == data
                await changes.job(made.job, "succeeded")
            async with opened(world) as (store, _, changes):
                found = await changes.found(made.job)
                assert (found.phase, found.content) == ("succeeded", "apart")
                assert await store.data(found) == data
                whole = await store.complete(found, data)
                assert (whole.job, whole.content) == (made.job, "apart")
                await store.finish(found, 2.0)
                await changes.until(lambda each: each == Gone(made.job))
                with pytest.raises(LookupError):
                    await store.complete(found, data)

        self.run(scenario())

    def test_segments_are_kept_until_they_are_removed(self, world: World) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, _, _):
                one, two = Segment("demo-work-ledger-one", b"\x00\xff"), Segment("demo-work-ledger-two", b"")
                for segment in (one, two, one):
                    await store.add_segment("work", segment)
                assert set(await store.segments("work")) == {one, two}
                for _ in range(2):
                    await store.remove_segment("work", one.name)
                assert set(await store.segments("work")) == {two}
                await store.remove_segment("work", two.name)
                await store.add_segment("work", one, "absent")
                assert (await store.segments("work"), await store.segments("work", "absent")) == ((), (one,))
                await store.remove_segment("work", one.name, "absent")
                assert await store.segments("work", "absent") == ()

        self.run(scenario())

    def test_a_finish_says_so_though_the_job_changed_meanwhile(self, world: World) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template(), owner, "changed"))
                await changes.job(made.job, "succeeded")
                await store.finish(made, 60.0)
                found = await store.get("work", made.job)
                assert found is not None
                assert found.done

        self.run(scenario())

    def test_the_state_is_kept_and_told_to_whoever_follows_it(self, world: World) -> None:
        async def scenario() -> None:
            mine, others = world.state(), world.state()
            before = await mine.read()
            latest = State({"not": "yet"})

            async def follow() -> None:
                nonlocal latest
                async for state in mine.changes():
                    latest = state

            async def until(entries: dict[str, str]) -> State:
                while latest.entries != entries:
                    await asyncio.sleep(0.05)
                return latest

            following = asyncio.create_task(follow())
            try:
                assert await until({}) == before
                first = await others.write({"paused.work": "", "request.1": "☃\n"})
                assert await until({"paused.work": "", "request.1": "☃\n"}) == first
                second = await mine.write({"paused.work": None, "note": "x"}, first.version)
                assert second.entries == {"request.1": "☃\n", "note": "x"}
                assert await until({"request.1": "☃\n", "note": "x"}) == second == await others.read()
                for stale in (first.version, ""):
                    with pytest.raises(Conflict):
                        await others.write({"note": "y"}, stale)
                assert await others.read() == second
                last = await others.write({"request.1": None, "note": None, "never": None})
                assert await until({}) == last
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
                await mine.close()
                await others.close()

        self.run(scenario())

    def test_of_many_who_write_the_state_at_once_each_is_heard(self, world: World) -> None:
        async def scenario() -> None:
            stores = [world.state() for _ in range(8)]
            await asyncio.gather(*(store.write({f"n{number}": "x"}) for number, store in enumerate(stores)))
            assert (await stores[0].read()).entries == {f"n{number}": "x" for number in range(8)}
            await stores[0].write({f"n{number}": None for number in range(8)})

        self.run(scenario())
