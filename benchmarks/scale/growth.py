"""What etcd keeps of finished items, and what was written to it on the way."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from scale.bed import Queue, bed
from scale.table import table

from cluster.controllers import TUNED
from cluster.job_watch import JobWatch, by_item

MILLION = 1_000_000
SENT = "etcd_network_client_grpc_received_bytes_total"
FILE = "etcd_mvcc_db_total_size_in_bytes"
"""What was is thrown out of it each five minutes, when the API server asks for that."""


def growth(count: int) -> None:
    """Jobs are kept for a second, so that what is left is what stays for good."""
    items = [f"item {number:06}" for number in range(count)]
    with TemporaryDirectory() as folder, bed(Path(folder), TUNED) as ground:
        deployed = ground.deploy("growth", [Queue("work", 200, keep=1)], {"items": items}, "flush=30")
        sent, file = ground.etcd(SENT), ground.etcd(FILE)
        with JobWatch(ground.client, "growth", by_item) as seen, deployed.manage():
            deployed.until("all is marked", lambda: len(seen.marked) == count)
            deployed.until("all Jobs are gone", lambda: not seen.here)
            time.sleep(5)
            written, grown = ground.etcd(SENT) - sent, ground.etcd(FILE) - file
            maps = ground.client.request("GET", f"{deployed.core}/configmaps").body["items"]
    kept = sum(len(each.get("binaryData", {}).get("hashes", "")) * 3 // 4 for each in maps)
    print(f"{count:,} items, and from them what a million would be.\n")
    row = [f"{kept / count:.1f} B", f"{kept / count * MILLION / (1 << 20):.0f} MiB"]
    row += [f"{written / count / 1024:.0f} KiB", f"{written / count * MILLION / (1 << 30):.0f} GiB"]
    row.append(f"{grown / count / 1024:.0f} KiB")
    columns = ["record, an item", "a million", "sent to etcd by all, an item", "a million"]
    table([*columns, "in its file, what was included, an item"], [row])
