"""The clock of the manager's machine jumps by hours, forward and back; that of nobody else does."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cluster.client import Client
from cluster.managed import Managed, identity
from support.need import unavailable
from wqc.contract.names import item_hash

NAMES = [f"item {number}" for number in range(12)]
KEEP = 600
WORKFLOW = f"""
source names: items {{
  items = {{
    {", ".join(f'"{name}" = {{ simulated_takes = "1s", simulated_result = "{{}}" }}' for name in NAMES[1:])}
    "{NAMES[0]}" = {{ simulated_exit_code_at_first = 1, simulated_result = "{{}}" }}
  }}
}}
worker plain {{ image = "example.com/plain:1", command = ["work"] }}
queue first {{ from = names, worker = plain, result = required, parallelism = 3, keep = {KEEP}s }}
queue second {{ from = first, worker = plain, parallelism = 3, keep = {KEEP}s }}
"""


@pytest.fixture(scope="module")
def faketime() -> Path:
    """https://github.com/wolfcw/libfaketime"""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return found[0] if found else unavailable("steps of a clock need libfaketime (Debian: libfaketime)")


class Clock:
    """`offset` in hours; the manager reads it each time that it looks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.step(0)

    def step(self, offset: int) -> None:
        self._file.with_suffix(".new").write_text(f"{offset:+d}h")
        self._file.with_suffix(".new").rename(self._file)


@contextmanager
def managed(workflow: Managed, faketime: Path) -> Iterator[Clock]:
    clock = Clock(workflow.folder / "clock")
    faked = {
        "LD_PRELOAD": str(faketime),
        "FAKETIME_TIMESTAMP_FILE": str(workflow.folder / "clock"),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    with workflow.log.open("ab") as log:
        command = [sys.executable, str(workflow.folder / "manager.py")]
        manager = subprocess.Popen(command, env=os.environ | workflow.environment() | faked, stderr=log)
    try:
        yield clock
        assert manager.poll() is None, workflow.log.read_text()[-4000:]
    finally:
        manager.terminate()
        manager.wait(30)


def times_said(log: Path) -> list[datetime]:
    """When the manager thought that it said something."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [datetime.fromisoformat(line["time"]) for line in lines]


@pytest.mark.parametrize("hours", [(7, -7), (-7, 7)])
def test_a_clock_that_jumps(
    simulated_cluster: Client, tmp_path: Path, faketime: Path, hours: tuple[int, int]
) -> None:
    namespace = f"clock-{'forward' if hours[0] > 0 else 'back'}"
    with (
        Managed(simulated_cluster, "clock", namespace, tmp_path, WORKFLOW, "patience=1") as workflow,
        managed(workflow, faketime) as clock,
    ):
        workflow.until("some are done", lambda: len(workflow.jobs("second")) > 2)
        clock.step(hours[0])
        workflow.until("more are done", lambda: len(workflow.jobs("second")) > 6)
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}}
        workflow.put(quota | {"spec": {"hard": {"pods": "0"}}})
        workflow.until("what is in the way is found out", lambda: "quota" in workflow.blocked("first"))
        clock.step(hours[1])
        simulated_cluster.request("DELETE", f"{workflow.core}/resourcequotas/none")
        workflow.until("all are done", lambda: workflow.is_done("second", NAMES))
    times = times_said(workflow.log)
    assert max(times) - min(times) > timedelta(hours=6), "nothing happened to the clock"
    assert workflow.attempts("first") == Counter(NAMES) + Counter(NAMES[:1])
    assert workflow.attempts("second") == Counter(NAMES)
    everything = Counter(item_hash(name, "") for name in NAMES)
    assert [workflow.recorded(queue) for queue in ("first", "second")] == [everything] * 2
    for job in (*workflow.jobs("first"), *workflow.jobs("second")):
        # the more finished Jobs there are, the shorter they are kept
        assert job["spec"]["ttlSecondsAfterFinished"] > 0.9 * KEEP, identity(job)
