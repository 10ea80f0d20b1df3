"""What a manager takes with many live Jobs, and with a long record of finished items."""

import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from scale.bed import Bed, Queue, Running, bed
from scale.jobs import create, items, manifests
from scale.served import served
from scale.table import table

from cluster.client import Client
from wqc.contract.names import LEDGER_LABEL, WORKFLOW_LABEL, item_hash, object_name
from wqc.runtime.queue.ledger import FLUSH_ITEMS, LAST_LEVEL, MERGED_AT_ONCE, write_segment

PAGE = 5000
"""Items that a manager asks for at a time."""
SIZE = "etcd_mvcc_db_total_size_in_use_in_bytes"
LARGEST = FLUSH_ITEMS * MERGED_AT_ONCE**LAST_LEVEL


class Memory(NamedTuple):
    """A manager's, in MiB."""

    anonymous: float
    most: float
    """That ever was in memory, files included."""

    def row(self) -> list[str]:
        return [f"{self.anonymous:.0f} MiB", f"{self.most:.0f} MiB"]


def live_jobs(count: int) -> None:
    """Each with a pod that runs."""
    with TemporaryDirectory() as folder, bed(Path(folder), ()) as ground:
        queue = Queue("work", count)
        deployed = ground.deploy("live", [queue], {"items": items(count)})
        ground.stop_controllers()
        create(ground.client, "live", manifests(ground.client, "live", queue, items(count)), pods=True)
        memory = with_live_jobs(deployed, count, 10)
    print("A manager with Jobs that run, each with its pod. Aim: 128 MiB for 10,000.\n")
    table(["Jobs", "anonymous memory", "the most in memory, files included"], [[f"{count:,}", *memory.row()]])


def with_live_jobs(deployed: Running, count: int, seconds: float) -> Memory:
    """`seconds` after it started: it lists them all at once then, which takes the most."""
    with deployed.manage():
        deployed.until("all are known", lambda: deployed.metric("wqc_items", state="running") == count)
        time.sleep(seconds)
        return _memory(deployed)


def backlog(count: int) -> None:
    """Of which nothing is done yet, and ten are worked on at a time."""
    names = dict.fromkeys(f"item {number:07}" for number in range(count))
    with TemporaryDirectory() as folder, bed(Path(folder), ()) as ground, served(names) as api:
        deployed = ground.deploy("backlog", [Queue("work", 10)], api.source)
        with deployed.manage():
            deployed.until("all are known", lambda: deployed.metric("wqc_items") >= count - 10)
            deployed.until("some are done", lambda: deployed.metric("wqc_items", state="done") > 0)
            rows = [[f"{count:,}", *_memory(deployed).row()]]
            api.list({**names, "one more": None})
            asked = api.asked["listing"]
            deployed.until("it is listed again", lambda: api.asked["listing"] > asked + -(-count // PAGE))
            rows.append(["one more", *_memory(deployed).row()])
    print("A manager with items that wait. Aim: 128 MiB.\n")
    table(["listed", "anonymous memory", "the most in memory, files included"], rows)


def ledger(count: int) -> None:
    """Of items that no source lists any more, and of items that one does; and when it lists one more."""
    with TemporaryDirectory() as folder, bed(Path(folder), ()) as ground:
        before = ground.etcd(SIZE)
        rows = _recorded(ground, count, listed=1)
        grown = ground.etcd(SIZE) - before
        rows += _recorded(ground, count, listed=count)
    print("A manager with a record of finished items. Aim: 192 MiB for a million.\n")
    table(["recorded", "of them listed", "anonymous memory", "the most in memory, files included"], rows)
    print(f"etcd grew by {grown / (1 << 20):.1f} MiB for the record of {count:,} items.\n")


def _recorded(ground: Bed, count: int, listed: int) -> list[list[str]]:
    """A row while nothing changes, and one for when one item more is listed."""
    namespace = f"ledger{listed}"
    names = dict.fromkeys(f"item {number:07}" for number in range(listed))
    with served(names) as api:
        deployed = ground.deploy(namespace, [Queue("work", 1)], api.source, "listing=5")
        _record(ground.client, namespace, (item_hash(f"item {number:07}", "") for number in range(count)))
        with deployed.manage():
            deployed.until("it is read", lambda: deployed.metric("wqc_items", state="done") == count)
            pages = -(-listed // PAGE)
            deployed.until("it is listed twice", lambda: api.asked["listing"] > pages)
            quiet = [f"{count:,}", f"{listed:,}", *_memory(deployed).row()]
            api.list({**names, "one more": None})
            deployed.until("one more is known", lambda: deployed.metric("wqc_items") > count)
            return [quiet, ["", "one more", *_memory(deployed).row()]]


def _memory(deployed: Running) -> Memory:
    return Memory(deployed.mebibytes("RssAnon"), deployed.mebibytes("VmHWM"))


def _record(client: Client, namespace: str, hashes: Iterator[bytes]) -> None:
    """As a manager leaves it behind: segments of the last level."""
    name = object_name(namespace, "work")
    found = client.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/{name}").body["metadata"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": found["uid"], "controller": True}
    batch: list[bytes] = []
    for key in hashes:
        batch.append(key)
        if len(batch) == LARGEST // 2:
            _write(client, namespace, owner, batch)
            batch = []
    if batch:
        _write(client, namespace, owner, batch)


def _write(client: Client, namespace: str, owner: dict[str, Any], hashes: list[bytes]) -> None:
    segment = write_segment(owner["name"], hashes, LAST_LEVEL)
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": segment.name,
            "labels": {WORKFLOW_LABEL: namespace, LEDGER_LABEL: "work"},
            "ownerReferences": [owner],
        },
        "immutable": True,
        "binaryData": {"hashes": b64encode(segment.content).decode()},
    }
    answer = client.create(manifest, namespace)
    assert answer.status == 201, answer.body
