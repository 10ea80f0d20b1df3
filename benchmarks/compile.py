"""How long the compiler takes, beside what it can't do without and beside other tools: medians of one run.

usage: compile.py [--rounds N] [--sizes N,N,…] [--limit SECONDS] [--profile N]

--profile compiles one workflow of N queues and shows where the time goes, instead of measuring.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import Command, Failed, rounds
from workflows import workflow

HERE = Path(__file__).resolve().parent
WQC = [str(Path(sys.executable).with_name("wqc"))]
"""What is installed: run from the sources, it would compile its own modules each time."""

PYTHON = [sys.executable, "-c"]
THUMBNAILS = str(HERE.parent / "examples" / "thumbnails.wq")

# A command, its budget in milliseconds, and the libraries that it can't do without.
START_UP: dict[str, tuple[Command, int, str]] = {
    "--help": ([*WQC, "--help"], 150, "argparse"),
    "fmt": ([*WQC, "fmt", "--check", THUMBNAILS], 150, "argparse"),
    "explain": ([*WQC, "explain", "WQ203"], 150, "argparse"),
    "check": ([*WQC, "check", THUMBNAILS], 350, "argparse, dataclasses, cel_expr_python"),
}

# The pipeline's steps, and where it has each from.
STEPS = {
    "load": "wqc.pipeline",
    "lower": "wqc.pipeline",
    "resolve": "wqc.pipeline",
    "flow_of": "wqc.pipeline",
    "checks": "wqc.pipeline",
    "place": "wqc.emit.placement",
    "folder": "wqc.emit.objects.folder",
    "render": "wqc.emit.render",
    "sealed": "wqc.emit.lock",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[10, 100, 1000, 4000]
    )
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--profile", type=int)
    arguments = parser.parse_args()
    if arguments.profile:
        profile(arguments.profile)
        return 0
    try:
        start_up(max(arguments.rounds, 11))
        generated(arguments.sizes, arguments.rounds, arguments.limit)
    except Failed as why:
        print(why, file=sys.stderr)
        return 2
    return 0


def start_up(times: int) -> None:
    commands: dict[str, Command] = {"pass": [*PYTHON, "pass"]}
    for name, (command, _, libraries) in START_UP.items():
        commands[name] = command
        commands[libraries] = [*PYTHON, f"import {libraries}"]
    figures = rounds(commands, times)
    bare = figures["pass"]
    print(f"Start-up, medians of {times} runs. `python -c pass`: {_ms(bare.seconds)}, CPU {_ms(bare.cpu)}\n")
    head("command", "time", "CPU", "budget", "÷ `pass`", "÷ its libraries", "libraries")
    for name, (_, budget, libraries) in START_UP.items():
        own, needed = figures[name], figures[libraries]
        ratios = (f"{own.seconds / bare.seconds:.1f}", f"{own.seconds / needed.seconds:.1f}")
        row(
            f"wqc {name}",
            _ms(own.seconds),
            _ms(own.cpu),
            f"{budget} ms",
            *ratios,
            f"{libraries}: {_ms(needed.seconds)}",
        )
    print()


def generated(sizes: list[int], times: int, limit: float) -> None:
    print("A workflow of so many queues, printed; the others print as many objects of that size.")
    print(f"Medians of {times} runs.\n")
    head("queues", "tool", "time", "CPU", "peak memory", "wqc's time ÷ this", "wqc's CPU ÷ this")
    per_queue: dict[int, float] = {}
    slow: set[str] = set()
    for size in sizes:
        with TemporaryDirectory() as folder:
            commands, missing = _commands(Path(folder), size, slow)
            figures = rounds(commands, times, limit)
        own = figures["wqc build"]
        per_queue[size] = own.cpu / size
        for name, figure in figures.items():
            time = f"{figure.seconds:.2f} s" if figure.ended else f"over {limit:g} s"
            ratios = ("", "")
            if name != "wqc build":
                ratios = (f"{own.seconds / figure.seconds:.2f}", f"{own.cpu / figure.cpu:.2f}")
            if not figure.ended:
                slow.add(name)
            row(str(size), name, time, f"{figure.cpu:.2f} s", f"{figure.mebibytes:.0f} MiB", *ratios)
        for name, why in missing.items():
            row(str(size), name, f"skipped: {why}", "", "", "", "")
    growth = ", ".join(f"{size}: {_ms(each, 2)}" for size, each in per_queue.items())
    print(f"\nGrowth, CPU per queue: {growth}")


def head(*cells: str) -> None:
    row(*cells)
    row(*("---" for _ in cells))


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


def _commands(folder: Path, size: int, slow: set[str]) -> tuple[dict[str, Command], dict[str, str]]:
    """What is measured, and why a peer isn't; those that were too slow at a smaller size are left out."""
    source = folder / "large.wq"
    source.write_text(workflow(size))
    prepare = [sys.executable, str(HERE / "peers.py"), str(folder), str(size)]
    peers = json.loads(subprocess.run(prepare, stdout=subprocess.PIPE, check=True).stdout)
    missing = peers["missing"] | dict.fromkeys(slow, "too slow at fewer")
    commands = {name: command for name, command in peers["commands"].items() if name not in slow}
    return {"wqc build": [*WQC, "build", "--stdout", str(source)], **commands}, missing


def profile(queues: int) -> None:
    """CPU seconds of each step of the pipeline, then the functions of a second run."""
    import cProfile
    import gc
    import pstats
    from importlib import import_module
    from time import process_time

    from wqc import pipeline
    from wqc.diagnostics.source import Source

    gc.disable()  # as the command line does
    source = Source("large.wq", workflow(queues))
    spent: dict[str, float] = {}

    def timed(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            start = process_time()
            result = function(*arguments)
            spent[step] = process_time() - start
            return result

        return run

    untimed = {step: getattr(import_module(module), step) for step, module in STEPS.items()}
    for step, function in untimed.items():
        setattr(import_module(STEPS[step]), step, timed(step, function))
    pipeline.build(source, pipeline.Options())
    for step, function in untimed.items():
        setattr(import_module(STEPS[step]), step, function)
    print(f"CPU of each step, {queues} queues\n")
    head("step", "CPU", "share")
    for step, seconds in spent.items():
        row(step, _ms(seconds), f"{seconds / sum(spent.values()):.0%}")
    profiler = cProfile.Profile()
    profiler.runcall(pipeline.build, source, pipeline.Options())
    for order in ("tottime", "cumulative"):
        pstats.Stats(profiler).strip_dirs().sort_stats(order).print_stats(30)


def _ms(seconds: float, digits: int = 0) -> str:
    return f"{seconds * 1000:.{digits}f} ms"


if __name__ == "__main__":
    sys.exit(main())
