"""Message brokers as sources, each a real server on this machine: how fast, and with how much memory.

usage: .venv/bin/python benchmarks/brokers.py [--items N] [--backlog N] [KIND …]

Items per second through reserve, get and done, without Jobs: by the plain client that does the same, by the
source in this process, and by its ambassador, asked over HTTP. In turns, several times: medians, and the
median of each turn's ratio, of time and of this process's CPU time.
Then the ambassador's memory with a thousand messages waiting, and with a million.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from queues.broker import Broker, Started
from queues.kafka import kafka
from queues.rabbitmq import rabbitmq
from queues.redis import redis_list, redis_stream

from support.ambassador import ambassador, source_settings
from support.opened import listed
from wqc.contract.settings import SourceSettings
from wqc.runtime.periods import Periods
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.opening import open_source
from wqc.runtime.sources.source import HoldingSource

BROKERS: Mapping[str, Started] = {
    "redis_list": redis_list,
    "redis_stream": redis_stream,
    "rabbitmq": rabbitmq,
    "kafka": kafka,
}
ROUNDS = 7
AT_ONCE = 16
"""Items that are asked for, and told of, at a time, as a manager does."""
FEW = 1000


async def through(source: HoldingSource, count: int) -> None:
    """List, get and be done with so many items."""
    while count > 0:
        names = list((await source.list()).versions)[:count]
        for start in range(0, len(names), AT_ONCE):
            batch = names[start : start + AT_ONCE]
            await asyncio.gather(*map(source.get, batch))
            await asyncio.gather(*map(source.done, batch))
        count -= len(names)


@dataclass(frozen=True)
class Taken:
    """Seconds. `cpu` is this process's, which a busy machine changes less."""

    wall: float
    cpu: float


async def timed(work: Callable[[], Awaitable[None]]) -> Taken:
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


def rates(broker: Broker, folder: Path, items: int) -> dict[str, float]:
    """Items per second, and the ratios of the source to the plain client."""
    settings = source_settings(folder / "settings", "words", broker.kind, **broker.options)
    taken: dict[str, list[Taken]] = {"plain": [], "source": [], "ambassador": []}

    async def source() -> None:
        opened = open_source(
            SourceSettings("words", broker.kind, dict(broker.options), workflow="test"), "", Periods()
        )
        assert isinstance(opened, HoldingSource)
        try:
            taken["source"].append(await timed(lambda: through(opened, items)))
        finally:
            await opened.close()

    async def served() -> None:
        with ambassador(["source", "words"], settings) as process:
            asked = HttpSource(process.url, 30)
            try:
                taken["ambassador"].append(await timed(lambda: through(asked, items)))
            finally:
                await asked.close()

    for _ in range(ROUNDS):
        broker.fill(3 * items)
        taken["plain"].append(asyncio.run(timed(lambda: broker.plain(items))))
        asyncio.run(source())
        asyncio.run(served())
    found = {name: items / median(each.wall for each in several) for name, several in taken.items()}
    turns = list(zip(taken["plain"], taken["source"], strict=True))
    found["ratio"] = median(plain.wall / own.wall for plain, own in turns)
    found["cpu"] = median(plain.cpu / own.cpu for plain, own in turns)
    return found


def memory(broker: Broker, folder: Path, backlog: int) -> tuple[float, float]:
    """The ambassador's anonymous memory in MiB with a few messages waiting, and with that many."""
    settings = source_settings(folder / "settings", "words", broker.kind, **broker.options)
    found = []
    for count in (FEW, backlog - FEW):
        broker.fill(count)
        with ambassador(["source", "words"], settings) as process:
            asyncio.run(some(process.url))
            found.append(process.anonymous_memory() / (1 << 20))
    return found[0], found[1]


async def some(url: str) -> None:
    """Look at all that is held, a few times; nothing is done."""
    asked = HttpSource(url, 60)
    try:
        for _ in range(3):
            # a broker that has just been given a million messages may not answer at once
            for name in (await listed(asked)).versions:
                await asked.get(name)
    finally:
        await asked.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(BROKERS))
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--backlog", type=int, default=1_000_000)
    arguments = parser.parse_args()
    print(f"{'items/s':14}{'plain':>8}{'source':>8}{'ratio':>7}{'CPU':>6}{'ambassador':>12}", end="")
    print(f"{'MiB, ' + str(FEW):>14}{'MiB, ' + str(arguments.backlog):>14}", flush=True)
    for kind in arguments.kinds or BROKERS:
        with TemporaryDirectory() as place, BROKERS[kind](Path(place)) as broker:
            rate = rates(broker, Path(place), arguments.items)
            few, many = memory(broker, Path(place), arguments.backlog)
        print(
            f"{kind:14}{rate['plain']:8.0f}{rate['source']:8.0f}{rate['ratio']:7.2f}{rate['cpu']:6.2f}",
            end="",
        )
        print(f"{rate['ambassador']:12.0f}{few:14.1f}{many:14.1f}", flush=True)


if __name__ == "__main__":
    main()
