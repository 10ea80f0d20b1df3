"""A fast queue before a slow one, for as long as it takes: how many objects there are at a time."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from scale.bed import Queue, bed
from scale.table import table

from cluster.controllers import TUNED
from cluster.job_watch import JobWatch, by_item

HANDOVER, KEEP = 100, 30


def backpressure(seconds: float) -> None:
    """More items than the slow queue gets through; `keep` is half a minute, as if the time were a day."""
    items = [f"item {number:06}" for number in range(20000)]
    queues = [Queue("fast", 50, handover=HANDOVER, keep=KEEP), Queue("slow", 5, "1s", keep=KEEP)]
    rows = []
    with TemporaryDirectory() as folder, bed(Path(folder), TUNED) as ground:
        deployed = ground.deploy("pressure", queues, {"items": items}, "flush=5")
        with JobWatch(ground.client, "pressure", by_item) as seen, deployed.manage():
            deployed.until("it works", lambda: bool(seen.marked))
            began = time.monotonic()
            for part in range(1, 5):
                seen.most = 0
                while time.monotonic() - began < seconds * part / 4:
                    time.sleep(1)
                maps = ground.client.request("GET", f"{deployed.core}/configmaps").body["items"]
                done = [sum(queue == name for queue, _ in seen.marked) for name in ("fast", "slow")]
                memory = f"{deployed.mebibytes('RssAnon'):.0f} MiB"
                at = f"{(time.monotonic() - began) / 60:.1f} min"
                rows.append([at, *map(str, done), str(seen.most), str(len(maps)), memory])
    print(
        f"A fast queue before a slow one, with a handover of {HANDOVER} items and Jobs kept for {KEEP} s.\n"
    )
    table(
        ["after", "fast: done", "slow: done", "most Jobs since the last", "ConfigMaps", "anonymous memory"],
        rows,
    )
