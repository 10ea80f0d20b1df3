"""A long listing behind a filter, looked at again and again while nothing changes."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from scale.bed import LONG, Queue, bed
from scale.served import served
from scale.table import table

ROUNDS = 20
EACH = 2.0
"""Seconds between two rounds."""


def quiet_rounds(count: int) -> None:
    orders = {f"order {number:06}": {"n": number} for number in range(count)}
    wanted = count // 10 - 1
    with served(orders) as api, TemporaryDirectory() as folder, bed(Path(folder), ()) as ground:
        queue = Queue("work", 1, LONG)
        deployed = ground.deploy("quiet", [queue], api.source, f"listing={EACH}", "item.data.n % 10 == 0")
        with deployed.manage():
            first = deployed.until("all is read", lambda: api.asked["item"] >= count)
            deployed.until("all is judged", lambda: deployed.metric("wqc_items", state="waiting") == wanted)
            time.sleep(2 * EACH)
            before, cpu = api.asked.copy(), deployed.cpu_seconds()
            deployed.until("rounds are over", lambda: api.asked["listing"] - before["listing"] >= ROUNDS)
            spent = deployed.cpu_seconds() - cpu
            asked = api.asked - before
            memory = deployed.mebibytes("RssAnon")
    print(f"{count:,} listed items behind a filter that takes a tenth. Aim: 0.5 s, no request for an item.\n")
    row = [
        f"{first:.0f} s",
        f"{1000 * spent / asked['listing']:.0f} ms",
        f"{asked['item']} of {asked.total()}",
        f"{memory:.0f} MiB",
    ]
    table(["first round", "CPU of a quiet round", "requests for items", "anonymous memory"], [row])
