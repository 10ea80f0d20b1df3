"""How the manager scales, on simulated nodes beside a real API server: medians and ratios of one run.

usage: manager.py [--only NAME,NAME…] [--size small|usual|full]

small says in two minutes whether it runs, usual takes half an hour, full two hours.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from scale.backpressure import backpressure
from scale.growth import growth
from scale.latency import latency
from scale.listing import quiet_rounds
from scale.memory import backlog, ledger, live_jobs
from scale.throughput import throughput

SIZES = ("small", "usual", "full")
FIGURES: dict[Callable[..., None], tuple[tuple[int, ...], ...]] = {
    throughput: ((60, 10, 1), (2000, 1200, 1), (3000, 1200, 5)),
    latency: ((40,), (400,), (2000,)),
    live_jobs: ((300,), (10_000,), (10_000,)),
    backlog: ((20_000,), (1_000_000,), (1_000_000,)),
    ledger: ((20_000,), (1_000_000,), (1_000_000,)),
    quiet_rounds: ((2_000,), (100_000,), (100_000,)),
    backpressure: ((20,), (120,), (900,)),
    growth: ((60,), (1000,), (10_000,)),
}
"""Each with what it takes at each size."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(each.__name__ for each in FIGURES))
    parser.add_argument("--size", choices=SIZES, default="usual")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    for figure, sizes in FIGURES.items():
        if figure.__name__ in arguments.only.split(","):
            load = os.getloadavg()[0]
            print(
                f"## {figure.__name__.replace('_', ' ')}\n\nLoad of the machine before: {load:.1f}\n",
                flush=True,
            )
            figure(*sizes[SIZES.index(arguments.size)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
