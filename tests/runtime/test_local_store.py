"""The local store passes the suite of all stores; time limits, chains and interruptions are its own."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.localrun import job_template, queue_files
from support.store_suite import StoreSuite, manifest, opened
from wqc.runtime.stores.local.state import LocalStateStore
from wqc.runtime.stores.local.store import InUse, LocalStore
from wqc.runtime.stores.state import StateStore
from wqc.runtime.stores.store import Gone, JobStore


class LocalWorld:
    def __init__(self, state: Path) -> None:
        self.state_folder = state

    def open(self) -> JobStore:
        return LocalStore(self.state_folder, {"work": queue_files("work", "true")})

    def state(self) -> StateStore:
        self.state_folder.mkdir(exist_ok=True)
        return LocalStateStore(self.state_folder)

    def template(self, result: str = "", code: int = 0, takes: float = 0.0, **pod: Any) -> dict[str, Any]:
        script = f"sleep {takes}; printf %s '{result}' > \"$WORK_RESULT_FILE\"; exit {code}"
        template: dict[str, Any] = yaml.safe_load(job_template(script, **pod))
        return template


@pytest.fixture
def world(tmp_path: Path) -> LocalWorld:
    return LocalWorld(tmp_path / "state")


def runs(pid: int) -> bool:
    """Zombies don't; whose parent is gone may stay one for long."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class TestLocalStore(StoreSuite):
    def test_one_manager_at_a_time(self, world: LocalWorld) -> None:
        async def scenario() -> None:
            async with opened(world):
                with pytest.raises(InUse):
                    world.open()

        self.run(scenario())

    def test_a_worker_that_runs_for_too_long_is_ended(self, world: LocalWorld) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                template = world.template(takes=60, activeDeadlineSeconds=1)
                made = await store.create("work", manifest(template, owner, "long"))
                job = await changes.job(made.job, "failed")
                assert job.reason == "it ran for longer than 1 s"

        self.run(scenario())

    @pytest.mark.parametrize("again", [False, True])
    def test_what_a_worker_left_in_the_background_ends_with_it(
        self, world: LocalWorld, tmp_path: Path, again: bool
    ) -> None:
        """Also where another manager sees the end."""

        async def scenario() -> None:
            pid, go = tmp_path / "pid", tmp_path / "go"
            script = f"(trap '' TERM; sleep 600) & echo $! > {pid}.new; mv {pid}.new {pid}"
            template = yaml.safe_load(job_template(f"{script}; until [ -e {go} ]; do sleep 0.05; done"))
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(template, owner, f"left {again}"))
                while not pid.exists():
                    await asyncio.sleep(0.05)
                if again:
                    assert isinstance(store, LocalStore)
                    store._processes.clear()
                else:
                    go.touch()
                    await changes.job(made.job, "succeeded")
            if again:
                async with opened(world) as (_, _, changes):
                    await changes.listed()
                    go.touch()
                    await changes.job(made.job, "succeeded")
            async with asyncio.timeout(10):
                while runs(int(pid.read_text())):
                    await asyncio.sleep(0.05)

        self.run(scenario())

    @pytest.mark.parametrize(
        "script",
        [
            'mkdir -p "$WORK_RESULT_FILE"',
            'mkfifo "$WORK_RESULT_FILE"',
            'ln -s /dev/zero "$WORK_RESULT_FILE"',
        ],
    )
    def test_a_result_that_is_no_plain_file_fails_the_attempt(self, world: LocalWorld, script: str) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                template = yaml.safe_load(job_template(script))
                made = await store.create("work", manifest(template, owner, "odd"))
                job = await changes.job(made.job, "failed")
                assert job.reason.startswith("its result can't be read: ")

        self.run(scenario())

    @pytest.mark.parametrize("left", ["", "mkdir -p {0}/work"])
    def test_a_worker_whose_jobs_folder_is_taken_away_says_that_the_job_is_gone(
        self, world: LocalWorld, left: str
    ) -> None:
        """Also where something of it is left."""

        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                job = 'job=$(dirname "$WORK_RESULT_FILE"); cd /; rm -rf "$job"; '
                template = yaml.safe_load(job_template(job + left.format('"$job"')))
                made = await store.create("work", manifest(template, owner, "taken away"))
                await changes.until(lambda change: change == Gone(made.job))
            async with opened(world) as (_, _, changes):
                assert not await changes.listed()

        self.run(scenario())

    def test_an_interrupted_attempt_is_lost_not_failed(self, world: LocalWorld) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                made = await store.create("work", manifest(world.template(takes=60), owner, "cut"))
            async with opened(world) as (_, _, changes):
                (job,) = await changes.listed()
                assert (job.job, job.phase) == (made.job, "lost")

        self.run(scenario())

    def test_the_worker_gets_the_item_as_files(self, world: LocalWorld, tmp_path: Path) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                out = tmp_path / "out"
                template = yaml.safe_load(
                    job_template(f'cp -r "$WORK_ITEM_DIR" {out}; cp "$WORK_ITEM_FILE" {out}')
                )
                data = {"path": "a\n$(b) '\"", "n": 1.5, "ok": True, "none": None, "list": [1], "../x": "y"}
                made = await store.create("work", manifest(template, owner, "files", json.dumps(data)))
                await changes.job(made.job, "succeeded")
                texts = {path.name: path.read_bytes().decode() for path in out.iterdir()}
                assert json.loads(texts.pop("item.json")) == data
                assert texts == {"path": "a\n$(b) '\"", "n": "1.5", "ok": "true", "none": ""}

        self.run(scenario())

    def test_a_large_item_is_a_file_without_fields(self, world: LocalWorld, tmp_path: Path) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                out = tmp_path / "out"
                template = yaml.safe_load(
                    job_template(f'cp "$WORK_ITEM_FILE" {out}; ls "$WORK_ITEM_DIR" > {out}.fields')
                )
                files = template["spec"]["template"]["spec"]["volumes"][0]["downwardAPI"]["items"]
                files.append(
                    {"path": "stdin", "fieldRef": {"fieldPath": "metadata.annotations['wqc/stdin']"}}
                )
                data = json.dumps({"path": "a" * 500 * 1024})
                made = await store.create("work", manifest(template, owner, "large", data), data)
                await changes.job(made.job, "succeeded")
                assert out.read_text() == data
                (folder,) = (world.state_folder / "jobs").iterdir()
                assert (folder / "item" / "stdin").read_text() == data
                assert Path(f"{out}.fields").read_text() == ""

        self.run(scenario())

    def test_containers_run_one_after_the_other_until_one_fails(
        self, world: LocalWorld, tmp_path: Path
    ) -> None:
        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                template = world.template()
                out = tmp_path / "out"
                template["spec"]["template"]["spec"]["initContainers"] = [
                    {"name": name, "command": ["sh", "-ec", f"echo {name} >> {out}; exit {code}"]}
                    for name, code in (("fetch", 0), ("test", 4), ("build", 0))
                ]
                made = await store.create("work", manifest(template, owner, "chain"))
                job = await changes.job(made.job, "failed")
                assert job.exit_code == 4
                assert out.read_text() == "fetch\ntest\n"

        self.run(scenario())

    def test_a_worker_that_ends_while_no_manager_runs_counts(self, world: LocalWorld) -> None:
        """As after kill -9: the store is dropped without ending its workers."""

        async def scenario() -> None:
            async with opened(world) as (store, owner, changes):
                await changes.listed()
                assert isinstance(store, LocalStore)
                made = await store.create("work", manifest(world.template("[1]", takes=0.5), owner, "orphan"))
                store._processes.clear()
            async with opened(world) as (_, _, changes):
                (job,) = await changes.listed()
                assert (job.phase, job.running) == ("active", True)
                assert (await changes.job(made.job, "succeeded")).message == "[1]"

        self.run(scenario())
