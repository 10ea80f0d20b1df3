"""How long finished Jobs stay: an hour; the more there are, the less, down to a minute."""

import asyncio
from pathlib import Path

import pytest

from support.localrun import queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.queue import recorder
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore

MOST = 10
COUNT = 15


def kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, keep: float, *queues: str, count: int = COUNT
) -> list[float]:
    """The seconds that each of the queues' Jobs is kept, in the order in which they were finished."""
    found: list[float] = []
    finish = LocalStore.finish

    async def noting(self: LocalStore, job: Job, ttl: float) -> None:
        found.append(ttl)
        await finish(self, job, ttl)

    monkeypatch.setattr(recorder, "FINISHED_JOBS", MOST)
    monkeypatch.setattr(recorder, "AT_ONCE", 1)
    monkeypatch.setattr(LocalStore, "finish", noting)
    workflow = Workflow("kept")
    stream = workflow.source("names")
    for queue in queues:
        stream = workflow.queue(queue, stream)
    files = {queue: queue_files(queue, "true", at_once=1, keep=keep) for queue in queues}
    names = [f"item {number}" for number in range(count)]
    asyncio.run(until_idle(workflow, folder, files, {"names": names}))
    return found


def test_the_more_there_are_the_shorter_they_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = kept(tmp_path, monkeypatch, 3600.0, "work")
    assert (len(found), found[0]) == (COUNT, 3600.0)
    assert found == sorted(found, reverse=True)
    assert found[-1] == 60.0


def test_who_asks_for_less_than_a_minute_gets_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(kept(tmp_path, monkeypatch, 30.0, "work")) == {30.0}


def test_those_of_the_whole_workflow_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = kept(tmp_path, monkeypatch, 3600.0, "first", "second", count=8)
    assert len(found) == 16
    assert found[-5:] == [60.0] * 5
