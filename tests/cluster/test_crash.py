"""The manager is killed before and after each single call of the API server: nothing is lost or repeated.

By default at a fixed sample of the points; with WQC_CRASH_ALL set, at every one (`make crash-all`).
"""

import os
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import groupby
from operator import and_
from pathlib import Path

from cluster.calls import Call, Meddler
from cluster.client import Client
from cluster.crashing import Run, expected
from cluster.killing import Killer, Point
from support.told import TOLD

SAMPLE = 64
AT_ONCE = 4
SECONDS = 240
TRIES = 4
"""A point that a run doesn't come to is sought in others: no two make quite the same calls."""


def points(counts: Mapping[str, int]) -> list[Point]:
    """Every one that a run with so many calls of each kind has."""
    calls = [Call(kind, number) for kind, count in sorted(counts.items()) for number in range(1, count + 1)]
    return [Point(call, moment) for call in calls for moment in ("before", "after")]


def sample(every: list[Point], count: int) -> list[Point]:
    """The first of each kind, before and after, and as many others as make up `count`, evenly spread."""
    first = [point for point in every if point.call.number == 1]
    rest = [point for point in every if point.call.number > 1]
    left = max(0, min(len(rest), count - len(first)))
    return sorted(first + [rest[number * len(rest) // left] for number in range(left)])


def test_a_manager_that_dies_at_any_call(
    simulated_cluster: Client, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    def undisturbed(number: int) -> Counter[str]:
        name = f"crash-none-{number}"
        run = Run(simulated_cluster, name, tmp_path / name, Meddler())
        assert run.until_over(SECONDS) == expected()
        return run.proxy.counts

    def failure(number: int, point: Point) -> tuple[bool, str]:
        """Whether the point was reached, and what went wrong."""
        for attempt in range(TRIES):
            name = f"crash-{number}-{attempt}"
            killer = Killer(point)
            run = Run(simulated_cluster, name, tmp_path / name, killer)
            killer.kill = run.kill
            try:
                found = run.until_over(SECONDS)
            except Exception:
                return killer.reached, traceback.format_exc()
            if found != expected():
                return killer.reached, f"{found}\n{run.log.read_text()[-4000:]}"
            if killer.reached:
                return True, ""
        return False, ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        # as many at once as later: how often a run reports and looks again depends on how long it takes
        every = points(reduce(and_, pool.map(undisturbed, range(2 * AT_ONCE))))
        tried = every if os.environ.get("WQC_CRASH_ALL") else sample(every, SAMPLE)
        results = list(pool.map(failure, range(len(tried)), tried))
    reached = [point for point, (was_reached, _) in zip(tried, results, strict=True) if was_reached]
    told = f"the manager was killed at {len(reached)} of {len(every)} points: {kinds(reached)}"
    record_property(TOLD, told)
    wrong = {str(point): why for point, (_, why) in zip(tried, results, strict=True) if why}
    assert not wrong
    assert [str(point) for point in tried if point not in reached] == []


def kinds(reached: list[Point]) -> str:
    grouped = groupby(sorted(reached), key=lambda point: point.call.kind)
    return ", ".join(f"{kind} {len(list(each))}" for kind, each in grouped)
