"""A queue's template changes while attempts are under way; a queue is renamed."""

import asyncio
from pathlib import Path

from support.localrun import jobs, managed, queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.queue.templates import Templates, digest_of
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import QueueFiles, Template


def workflow(queue: str = "work") -> Workflow:
    made = Workflow("demo")
    made.queue(queue, made.source("names"))
    return made


def kept(state: Path, queue: str = "work") -> list[str]:
    return sorted(path.name for path in (state / "templates" / queue).iterdir())


def run(state: Path, files: QueueFiles, names: list[str], queue: str = "work") -> None:
    asyncio.run(until_idle(workflow(queue), state, {queue: files}, {"names": names}))


def run_until_tried(state: Path, files: QueueFiles, out: Path, queue: str = "work") -> None:
    """Until an item that fails was tried twice."""

    async def scenario() -> None:
        async with managed(workflow(queue), state, {queue: files}, {"names": ["a"]}) as manager:
            await manager.until(lambda status: out.exists() and len(out.read_text().split()) >= 2)

    asyncio.run(scenario())


def test_a_retry_uses_the_current_template_and_a_copy_of_the_old_goes_when_nothing_has_it(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state"
    out = tmp_path / "out"
    old = queue_files("work", f"echo old >> {out}; exit 1", retries=1000)
    new = queue_files("work", f"echo new >> {out}", retries=1000)
    run_until_tried(state, old, out)
    assert kept(state) == [digest_of(old.job)]
    run(state, new, ["a"])
    assert kept(state) == [digest_of(new.job)]
    lines = out.read_text().split()
    assert lines == ["old"] * (len(lines) - 1) + ["new"]


def test_templates_are_told_apart_by_every_character() -> None:
    assert digest_of("a: 1\n") != digest_of("a: 2\n")
    assert digest_of("a: 1\n") == "g6ysrrm7d5ijp5z7"


def test_copies_in_use_stay(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = LocalStore(tmp_path, {})
        for text in ("kind: Job # 1", "kind: Job # 2"):
            await store.keep_template("work", Template(digest_of(text), text))
        templates = Templates("work", "kind: Job # 3", store)
        await templates.load()
        assert len(kept(tmp_path)) == 3
        await templates.forget_unused({digest_of("kind: Job # 1")})
        assert kept(tmp_path) == sorted(map(digest_of, ("kind: Job # 1", "kind: Job # 3")))
        assert templates[digest_of("kind: Job # 1")]["kind"] == "Job"
        await store.close()

    asyncio.run(scenario())


def test_a_renamed_queue_repeats_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    out = tmp_path / "out"
    script = f'echo "$(cat "$WORK_ITEM_FILE")" >> {out}'
    run(state, queue_files("old", script), ["a", "b"], queue="old")
    run(state, queue_files("new", script, formerly="old"), ["a", "b", "c"], queue="new")
    assert sorted(out.read_text().split()) == ['"a"', '"b"', '"c"']
    assert list((state / "ledger" / "old").iterdir()) == []
    # its record is its own: the former name isn't needed any more
    run(state, queue_files("new", script), ["a", "b", "c", "d"], queue="new")
    assert sorted(out.read_text().split()) == ['"a"', '"b"', '"c"', '"d"']


def test_a_renamed_queue_goes_on_with_the_attempts_it_had(tmp_path: Path) -> None:
    state = tmp_path / "state"
    out = tmp_path / "out"
    failing = queue_files("old", f"echo old >> {out}; exit 1", retries=1000)
    run_until_tried(state, failing, out, queue="old")
    run(state, queue_files("new", f"echo new >> {out}", formerly="old", retries=1000), ["a"], queue="new")
    attempts = [each["attempt"] for each in jobs(state)]
    assert sorted(attempts) == list(range(1, len(attempts) + 1))
    lines = out.read_text().split()
    assert lines == ["old"] * (len(lines) - 1) + ["new"]
