"""From an item's completion in one queue to its Job in the next."""

from pathlib import Path
from tempfile import TemporaryDirectory

from scale.bed import Queue, bed
from scale.table import table
from scale.watching import JobWatch, by_item

from cluster.controllers import TUNED


def latency(count: int) -> None:
    items = [f"item {number:05}" for number in range(count)]
    queues = [Queue("first", 10, "1s"), Queue("second", 20)]
    with TemporaryDirectory() as folder, bed(Path(folder), TUNED) as ground:
        deployed = ground.deploy("latency", queues, {"items": items})
        with JobWatch(ground.client, "latency", by_item) as seen, deployed.manage():
            deployed.until("all is done", lambda: len(seen.completed) == 2 * count)
    waits = sorted(seen.created["second", item] - seen.completed["first", item] for item in items)
    shares = (0.5, 0.9, 0.99, 1.0)
    row = [f"{1000 * waits[min(count - 1, int(share * count))]:.0f} ms" for share in shares]
    print(f"From the completion of {count} Jobs, ten at a time, to the next queue's Job of the item.\n")
    table(["median", "90 %", "99 %", "longest"], [row])
