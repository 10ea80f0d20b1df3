"""Retries back off: each pause is twice as long as the one before, up to a limit."""

import asyncio
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from support.localrun import QUICK, queue_files, until_idle
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.periods import Periods


def test_the_pauses_between_attempts_are_doubled(tmp_path: Path) -> None:
    workflow = Workflow("failing")
    workflow.queue("work", workflow.source("names"))
    out = tmp_path / "out"
    files = {"work": queue_files("work", f"date +%s.%N >> {out}; exit 1", retries=3)}
    periods = replace(QUICK, backoff=0.4, backoff_limit=60.0)
    asyncio.run(until_idle(workflow, tmp_path, files, {"names": ["a"]}, periods=periods))
    times = [float(line) for line in out.read_text().split()]
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert len(pauses) == 3
    assert all(pause >= 0.4 * 2**number for number, pause in enumerate(pauses)), pauses


@pytest.mark.parametrize(("failures", "seconds"), [(1, 10), (2, 20), (3, 40), (6, 320), (7, 360), (999, 360)])
def test_from_ten_seconds_to_six_minutes(failures: int, seconds: int) -> None:
    assert Periods().backoff_after(failures) == seconds
