"""From an item's completion in one queue to its Job in the next."""

import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scale.bed import WRITES, Bed, Queue, bed
from scale.table import table

from cluster.controllers import TUNED
from cluster.job_watch import JobWatch, by_item

FLUSH = 5
"""Seconds between two writes of the record, of each queue."""
SHARES = (0.5, 0.9, 0.99, 1.0)


class Chain(NamedTuple):
    """Two queues in a row."""

    waits: list[float]
    """Seconds from an item's completion in the first to its Job in the second, the shortest first."""
    attempts: int
    writes: Counter[str]
    """The manager's, by resource."""
    seconds: float
    """That the manager ran."""


def latency(count: int) -> None:
    with TemporaryDirectory() as folder, bed(Path(folder), TUNED) as ground:
        waits = chain(ground, count).waits
    row = [f"{1000 * waits[min(count - 1, int(share * count))]:.0f} ms" for share in SHARES]
    print(f"From the completion of {count} Jobs, ten at a time, to the next queue's Job of the item.\n")
    table(["median", "90 %", "99 %", "longest"], [row])


def chain(ground: Bed, count: int) -> Chain:
    items = [f"item {number:05}" for number in range(count)]
    queues = [Queue("first", 10, "1s"), Queue("second", 20)]
    # a Job is marked once its item is recorded, which waits for others
    deployed = ground.deploy("latency", queues, {"items": items}, f"flush={FLUSH}")
    began = time.monotonic()
    with JobWatch(ground.client, "latency", by_item) as seen, deployed.manage():
        deployed.until("all is marked", lambda: len(seen.marked) == 2 * count)
        # by now or soon: a watch may be quicker than the answer
        deployed.until("so it counts", lambda: deployed.asked()["patch", "jobs"] >= 2 * count)
        writes = Counter[str]()
        for (verb, resource), times in deployed.asked().items():
            if verb in WRITES:
                writes[resource] += times
        seconds = time.monotonic() - began
    waits = sorted(seen.created["second", item] - seen.completed["first", item] for item in items)
    return Chain(waits, len(seen.created), writes, seconds)
