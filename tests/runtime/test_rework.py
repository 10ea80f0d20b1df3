"""Whether an item that has changed is worked on again: `rework`."""

import asyncio
from pathlib import Path

import pytest

from runtime.test_going_on import Shared
from support.localrun import queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.sources.source import Listing


class Versioned(Shared):
    version = "1"

    async def list(self) -> Listing:
        return Listing(dict.fromkeys(self.data, self.version))


@pytest.mark.parametrize(("rework", "times"), [("never", 1), ("on_change", 2)])
def test_a_new_version_is_a_new_item_only_where_it_is_said(tmp_path: Path, rework: str, times: int) -> None:
    workflow = Workflow("versions")
    workflow.queue("work", workflow.source("names"))
    out = tmp_path / "out"
    files = {"work": queue_files("work", f"echo x >> {out}", rework=rework)}
    source = Versioned({"a": 1})
    for version in ("1", "1", "2"):
        source.version = version
        asyncio.run(until_idle(workflow, tmp_path, files, {"names": source}))
    assert out.read_text().count("x") == times
