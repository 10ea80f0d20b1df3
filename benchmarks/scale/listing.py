"""A long listing behind a filter, looked at again and again while nothing changes."""

import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from scale.bed import LONG, Bed, Queue, bed
from scale.served import served
from scale.table import table

ROUNDS = 20
EACH = 2.0
"""Seconds between two rounds."""


class Quiet(NamedTuple):
    """Rounds over a listing that stays as it is."""

    first: float
    """Seconds until all of it was read."""
    cpu: float
    """Seconds of a round."""
    asked: Counter[str]
    """What the source was asked for: `listing`, `item`."""
    requests: Counter[tuple[str, str]]
    """To the API server meanwhile, by verb and resource."""
    seconds: float
    """That they took."""
    mebibytes: float
    """Anonymous memory."""


def quiet_rounds(count: int) -> None:
    with TemporaryDirectory() as folder, bed(Path(folder), ()) as ground:
        quiet = filtered(ground, count, ROUNDS, EACH)
    print(f"{count:,} listed items behind a filter that takes a tenth. Aim: 0.5 s, no request for an item.\n")
    row = [
        f"{quiet.first:.0f} s",
        f"{1000 * quiet.cpu:.0f} ms",
        f"{quiet.asked['item']} of {quiet.asked.total()}",
        f"{quiet.mebibytes:.0f} MiB",
    ]
    table(["first round", "CPU of a quiet round", "requests for items", "anonymous memory"], [row])


def filtered(ground: Bed, count: int, rounds: int, each: float) -> Quiet:
    """Of a tenth of the items, one has a Job and the others wait."""
    orders = {f"order {number:06}": {"n": number} for number in range(count)}
    wanted = count // 10 - 1
    with served(orders) as api:
        queue = Queue("work", 1, LONG)
        deployed = ground.deploy("quiet", [queue], api.source, f"listing={each}", "item.data.n % 10 == 0")
        with deployed.manage():
            first = deployed.until("all is read", lambda: api.asked["item"] >= count)
            deployed.until("all is judged", lambda: deployed.metric("wqc_items", state="waiting") == wanted)
            deployed.until("one runs", lambda: deployed.metric("wqc_items", state="running") == 1)
            time.sleep(2 * each)
            before, cpu, requests = api.asked.copy(), deployed.cpu_seconds(), deployed.asked()
            seconds = deployed.until(
                "rounds are over", lambda: api.asked["listing"] - before["listing"] >= rounds
            )
            spent = deployed.cpu_seconds() - cpu
            asked = api.asked - before
            requests = deployed.asked() - requests
            memory = deployed.mebibytes("RssAnon")
            return Quiet(first, spent / asked["listing"], asked, requests, seconds, memory)
