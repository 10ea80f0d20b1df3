"""Whole workflows, on this machine: which items were worked on, in what form, and what is recorded."""

import asyncio
import json
from collections import Counter
from pathlib import Path

from support.localrun import jobs, managed, queue_files, until_idle
from support.sources import Holding, Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import Status
from wqc.runtime.sources.source import Listing, SourceError


def collect(out: Path) -> str:
    """A worker that notes what it was given, one file per attempt."""
    return f'cat "$WORK_ITEM_FILE" > "$(mktemp {out}/XXXXXX)"'


def collected(out: Path) -> Counter[str]:
    return Counter(path.read_text() for path in out.iterdir())


def test_every_item_is_worked_on_and_recorded_once(tmp_path: Path) -> None:
    workflow = Workflow("numbers")
    workflow.queue("print", workflow.source("names"))
    out = tmp_path / "out"
    out.mkdir()
    names = [f"item-{number}" for number in range(20)]
    status = asyncio.run(
        until_idle(workflow, tmp_path / "s", {"print": queue_files("print", collect(out))}, {"names": names})
    )
    assert collected(out) == Counter(json.dumps(name) for name in names)
    assert (status.queues[0].done, status.queues[0].failed) == (20, 0)


def test_nothing_is_repeated_by_a_second_run(tmp_path: Path) -> None:
    workflow = Workflow("numbers")
    workflow.queue("print", workflow.source("names"))
    out = tmp_path / "out"
    out.mkdir()
    files = {"print": queue_files("print", collect(out))}
    asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": ["a", "b"]}))
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": ["a", "b", "c"]}))
    assert collected(out) == Counter(['"a"', '"b"', '"c"'])
    assert status.queues[0].done == 3


def test_the_results_of_one_queue_are_the_items_of_the_next(tmp_path: Path) -> None:
    workflow = Workflow("chain")
    first = workflow.queue("first", workflow.source("names"))
    workflow.queue("second", first)
    out = tmp_path / "out"
    out.mkdir()
    double = 'n=$(cat "$WORK_ITEM_FILE"); printf \'{"n": %s}\' "$((n * 2))" > "$WORK_RESULT_FILE"'
    files = {
        "first": queue_files("first", double, result="required"),
        "second": queue_files("second", f'cat "$WORK_ITEM_DIR/n" > "$(mktemp {out}/XXXXXX)"'),
    }
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": {"x": 1, "y": 21}}))
    assert collected(out) == Counter(["2", "42"])
    assert [queue.done for queue in status.queues] == [2, 2]


def test_an_item_fails_after_its_retries_and_keeps_its_job(tmp_path: Path) -> None:
    workflow = Workflow("failing")
    workflow.queue("work", workflow.source("names"))
    out = tmp_path / "out"
    out.mkdir()
    script = f'{collect(out)}; grep -q good "$WORK_ITEM_FILE" || {{ echo broken; exit 3; }}'
    files = {"work": queue_files("work", script, retries=2)}
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": ["good", "bad"]}))
    assert collected(out) == Counter({'"good"': 1, '"bad"': 3})
    (failure,) = status.queues[0].failures
    assert (failure.item, failure.reason, failure.message) == ("bad", "exit code 3", "broken\n")
    assert status.queues[0].done == 1
    last = max((job for job in jobs(tmp_path / "s") if job["name"] == "bad"), key=lambda job: job["attempt"])
    assert (last["attempt"], last["failures"]) == (3, 2)


def test_poison_is_not_retried(tmp_path: Path) -> None:
    workflow = Workflow("failing")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "exit 65", retries=3, poison=[65])}
    asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": ["bad"]}))
    assert [job["attempt"] for job in jobs(tmp_path / "s")] == [1]


def test_a_reader_of_failed_items_gets_what_happened(tmp_path: Path) -> None:
    workflow = Workflow("failing")
    work = workflow.queue("work", workflow.source("names"))
    workflow.queue("lost", work.failed)
    out = tmp_path / "out"
    out.mkdir()
    files = {
        "work": queue_files("work", "echo it broke; exit 7", retries=1),
        "lost": queue_files("lost", collect(out)),
    }
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": {"x": {"a": 1}}}))
    (told,) = collected(out)
    again = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": {"x": {"a": 1}}}))
    for said in (status, again):
        assert [(each.done, each.failed, each.held) for each in said.queues] == [(0, 1, 0), (1, 0, 0)]
    assert json.loads(told) == {
        "item": {"name": "x", "version": "", "data": {"a": 1}},
        "reason": "exit code 7",
        "exit_code": 7,
        "attempts": 2,
        "message": "it broke\n",
    }


def test_a_missing_result_is_a_failure(tmp_path: Path) -> None:
    workflow = Workflow("results")
    work = workflow.queue("work", workflow.source("names"))
    workflow.queue("after", work)
    out = tmp_path / "out"
    out.mkdir()
    files = {
        "work": queue_files("work", "true", retries=0, result="required"),
        "after": queue_files("after", collect(out)),
    }
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"names": ["x"]}))
    (failure,) = status.queues[0].failures
    assert (failure.item, failure.reason) == (
        "x",
        "the worker ended well but wrote no result to WORK_RESULT_FILE",
    )
    assert not collected(out)


def test_all_patterns_in_one_workflow(tmp_path: Path) -> None:
    workflow = Workflow("everything")
    users = workflow.source("users")
    known = workflow.filter("known", users, where="item.data.id >= 0")
    both = workflow.copier("both", known)
    region = workflow.sharder("region", both, key="item.data.id", shards=("a", "b"))
    verify = workflow.queue("verify", region)
    channel = workflow.splitter(
        "channel", both, cases={"email": "item.data.email", "sms": "item.data.sms"}, otherwise="drop"
    )
    merged = workflow.merger("merged", {"verify": verify, "email": channel["email"], "sms": channel["sms"]})
    workflow.queue("mail", merged)
    out = tmp_path / "out"
    out.mkdir()
    note = f'echo "$(cat "$WORK_ITEM_DIR/id")" > "$(mktemp {out}/XXXXXX)"'
    files = {
        "verify": queue_files("verify", "true", lanes=("a", "b")),
        "mail": queue_files("mail", note),
    }
    data = {
        f"u{number}": {"id": number, "email": number % 2 == 0, "sms": number % 3 == 0}
        for number in range(-3, 9)
    }
    status = asyncio.run(until_idle(workflow, tmp_path / "s", files, {"users": data}))
    expected: Counter[str] = Counter()
    for user in data.values():
        if user["id"] >= 0:
            expected[f"{user['id']}\n"] += 1 + user["email"] + user["sms"]
    assert collected(out) == expected
    assert [queue.done for queue in status.queues] == [9, sum(expected.values())]


def test_an_item_that_is_about_to_be_begun_is_no_standstill(tmp_path: Path) -> None:
    """`wqc run --until-empty` would end before it."""

    class Slow(Shared):
        async def get(self, name: str) -> str:
            await asyncio.sleep(0.5)
            return await super().get(name)

    workflow = Workflow("slow")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "true")}
    stalled = []

    def over(status: Status) -> bool:
        stalled.append(status.stalled)
        return status.idle

    async def scenario() -> None:
        async with managed(workflow, tmp_path, files, {"names": Slow({"a": 1})}) as manager:
            await manager.until(over)

    asyncio.run(scenario())
    assert not any(stalled)


class Breaking(Shared):
    broken = False

    async def list(self) -> Listing:
        if self.broken:
            raise SourceError("down")
        return await super().list()


def test_an_item_that_is_listed_but_not_there_holds_up_no_other(tmp_path: Path) -> None:
    class Ghostly(Shared):
        async def list(self) -> Listing:
            return Listing({"ghost": "", "real": ""} if "real" in self.data else {})

    async def run() -> None:
        workflow = Workflow("ghosts")
        workflow.queue("work", workflow.source("names"))
        source = Ghostly({"real": 1})
        files = {"work": queue_files("work", "true", at_once=1)}

        async def vanish() -> None:
            await asyncio.sleep(1.0)
            source.data.clear()

        gone = asyncio.create_task(vanish())
        status = await until_idle(workflow, tmp_path / "s", files, {"names": source})
        await gone
        assert status.queues[0].done == 1

    asyncio.run(run())


def test_nothing_is_started_while_the_source_can_not_be_listed(tmp_path: Path) -> None:
    workflow = Workflow("closed")
    workflow.queue("work", workflow.source("names"))
    source = Breaking({"x": 1})
    source.broken = True

    async def run() -> None:
        try:
            await until_idle(
                workflow,
                tmp_path / "s",
                {"work": queue_files("work", "true")},
                {"names": source},
                timeout=0.5,
            )
        except TimeoutError:
            return
        raise AssertionError("a source that was never listed isn't worked off")

    asyncio.run(run())
    assert not jobs(tmp_path / "s")


def test_items_wait_while_their_source_fails_and_go_on_when_it_is_well(tmp_path: Path) -> None:
    """One slot: when the source fails, the second item is known and not yet started."""

    async def run() -> None:
        workflow = Workflow("pausing")
        workflow.queue("work", workflow.source("names"))
        source = Breaking({"a": 1, "b": 2})
        out = tmp_path / "out"
        out.mkdir()
        files = {"work": queue_files("work", f"{collect(out)}; sleep 1", at_once=1)}

        async def fail_for_a_while() -> None:
            while not list(out.iterdir()):
                await asyncio.sleep(0.01)
            source.broken = True
            await asyncio.sleep(2)
            assert collected(out) == Counter(["1"])
            source.broken = False

        failing = asyncio.create_task(fail_for_a_while())
        status = await until_idle(workflow, tmp_path / "s", files, {"names": source})
        await failing
        assert status.queues[0].done == 2

    asyncio.run(run())


def test_a_source_that_holds_items_is_told_when_others_have_them(tmp_path: Path) -> None:
    class Reluctant(Holding):
        refuses = 2

        async def done(self, name: str) -> None:
            if self.refuses:
                self.refuses -= 1
                raise SourceError("not now")
            # custody passes only to what is on the disk already
            assert name == "rejected" or name in {job["name"] for job in jobs(tmp_path / "s")}
            await super().done(name)

    source = Reluctant({"a": {"n": 1}, "b": {"n": 2}, "rejected": {"n": -1}})

    async def run() -> None:
        workflow = Workflow("holding")
        names = workflow.source("names")
        workflow.queue("work", workflow.filter("positive", names, where="item.data.n > 0"))
        files = {"work": queue_files("work", "true")}
        await until_idle(workflow, tmp_path / "s", files, {"names": source})

    asyncio.run(run())
    assert sorted(source.told) == ["a", "b", "rejected"]


def test_an_item_whose_data_is_no_json_holds_up_no_other(tmp_path: Path) -> None:
    class Broken(Shared):
        async def get(self, name: str) -> str:
            return "<html>" if name == "bad" and self.data["bad"] is None else await super().get(name)

    async def run() -> None:
        workflow = Workflow("unreadable")
        names = workflow.source("names")
        workflow.queue("work", workflow.filter("positive", names, where="item.data.n > 0"))
        source = Broken({"bad": None, "good": {"n": 1}})
        out = tmp_path / "out"
        out.mkdir()

        async def mend() -> None:
            while not collected(out):
                await asyncio.sleep(0.05)
            source.data["bad"] = {"n": 5}

        mending = asyncio.create_task(mend())
        files = {"work": queue_files("work", collect(out))}
        status = await until_idle(workflow, tmp_path / "s", files, {"names": source})
        await mending
        assert collected(out) == Counter(['{"n": 1}', '{"n": 5}'])
        assert not status.sources[0].problem

    asyncio.run(run())
