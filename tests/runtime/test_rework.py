"""Whether an item that has changed is worked on again: `rework`."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.localrun import jobs, queue_files, until_idle
from support.sources import Shared
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.sources.source import Listing
from wqc.runtime.stores.local.store import LocalStore
from wqc.runtime.stores.store import Gone, Listed, QueueFiles


class Versioned(Shared):
    version = "1"

    async def list(self) -> Listing:
        return Listing(dict.fromkeys(self.data, self.version))


async def let_go(state: Path, files: Mapping[str, QueueFiles]) -> None:
    """Until the finished Jobs are gone."""
    store = LocalStore(state, files)
    async with asyncio.timeout(30):
        async for change in store.changes():
            if not jobs(state):
                break
            assert isinstance(change, Listed | Gone)
    await store.close()


@pytest.mark.parametrize("keep", [0, 3600])
@pytest.mark.parametrize(("rework", "times"), [("never", 1), ("on_change", 2)])
def test_a_new_version_is_a_new_item_only_where_it_is_said(
    tmp_path: Path, rework: str, times: int, keep: int
) -> None:
    """Whether the finished Job is still there, or the record alone says what is done."""
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    out = tmp_path / "out"
    files = {"work": queue_files("work", f"echo x >> {out}", rework=rework, keep=keep)}
    source = Versioned({"a": 1})

    for version in ("1", "1", "2"):
        source.version = version
        asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
        if not keep:
            asyncio.run(let_go(tmp_path, files))
    assert out.read_text().count("x") == times
