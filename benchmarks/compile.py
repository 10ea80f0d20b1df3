"""How long the compiler takes, beside what it can't do without and beside other tools: medians of one run.

usage: compile.py [--rounds N] [--sizes N,N,…] [--limit SECONDS] [--profile N]

--profile compiles one workflow of N queues and shows where the time goes, instead of measuring.
"""

import argparse
import cProfile
import pstats
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from measure import Command, Failed, Figure, rounds
from peers import PEERS, Missing
from workflows import workflow

ROOT = Path(__file__).resolve().parent.parent
WQC = [sys.executable, "-m", "wqc"]
PYTHON = [sys.executable, "-c"]
THUMBNAILS = str(ROOT / "examples" / "thumbnails.wq")

# A command, its budget in milliseconds, and the libraries that it can't do without.
START_UP: dict[str, tuple[Command, int, str]] = {
    "--help": ([*WQC, "--help"], 150, "argparse"),
    "fmt": ([*WQC, "fmt", "--check", THUMBNAILS], 150, "argparse"),
    "explain": ([*WQC, "explain", "WQ203"], 150, "argparse"),
    "check": ([*WQC, "check", THUMBNAILS], 350, "argparse, networkx, cel_expr_python"),
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
    print(f"Start-up, median of {times} runs. `python -c pass`: {_ms(figures['pass'])}\n")
    print("| command | time | budget | ÷ `pass` | ÷ its libraries | libraries |")
    print("|---|---|---|---|---|---|")
    for name, (_, budget, libraries) in START_UP.items():
        own = figures[name]
        print(
            f"| wqc {name} | {_ms(own)} | {budget} ms | {own.seconds / figures['pass'].seconds:.1f} "
            f"| {own.seconds / figures[libraries].seconds:.1f} | {libraries}: {_ms(figures[libraries])} |"
        )
    print()


def generated(sizes: list[int], times: int, limit: float) -> None:
    print("A workflow of so many queues, printed; the others print as many objects of that size.\n")
    print(f"| queues | tool | time (median of {times}) | peak memory | wqc's time ÷ this |")
    print("|---|---|---|---|---|")
    per_queue: dict[int, float] = {}
    slow: set[str] = set()
    for size in sizes:
        with TemporaryDirectory() as folder:
            commands, missing = _commands(Path(folder), size, slow)
            figures = rounds(commands, times, limit)
        own = figures["wqc build"]
        per_queue[size] = own.seconds / size
        for name, figure in figures.items():
            ratio = "" if name == "wqc build" else f"{own.seconds / figure.seconds:.2f}"
            if not figure.ended:
                slow.add(name)
                print(f"| {size} | {name} | over {limit:g} s | {figure.mebibytes:.0f} MiB | < {ratio} |")
            else:
                print(f"| {size} | {name} | {figure.seconds:.2f} s | {figure.mebibytes:.0f} MiB | {ratio} |")
        for name, why in missing.items():
            print(f"| {size} | {name} | skipped: {why} | | |")
    print(
        "\nGrowth, time per queue: "
        + ", ".join(f"{size}: {each * 1000:.2f} ms" for size, each in per_queue.items())
    )


def _commands(folder: Path, size: int, slow: set[str]) -> tuple[dict[str, Command], dict[str, str]]:
    """What is measured, and why a peer isn't; those that were too slow at a smaller size are left out."""
    source = folder / "large.wq"
    source.write_text(workflow(size))
    commands: dict[str, Command] = {"wqc build": [*WQC, "build", "--stdout", str(source)]}
    missing: dict[str, str] = {}
    manifest = _one_queue()
    for peer in PEERS:
        if peer.name in slow:
            missing[peer.name] = "too slow at fewer"
            continue
        own = folder / peer.name.replace(" ", "-")
        own.mkdir()
        try:
            commands[peer.name] = peer.prepare(own, manifest, size)
        except Missing as why:
            missing[peer.name] = str(why)
    return commands, missing


def _one_queue() -> dict[str, object]:
    """The ConfigMap that wqc writes for a queue, with NAME where its name stands."""
    from wqc.diagnostics.source import Source
    from wqc.pipeline import Options, build

    built = build(Source("large.wq", workflow(2)), Options())
    manifest: dict[str, object] = yaml.safe_load(built.files["queue-resized-1.yaml"])
    manifest["metadata"]["name"] = "NAME"  # type: ignore[index]
    return manifest


def profile(queues: int) -> None:
    from wqc.diagnostics.source import Source
    from wqc.pipeline import Options, build

    source = Source("large.wq", workflow(queues))
    profiler = cProfile.Profile()
    profiler.runcall(build, source, Options())
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(30)
    pstats.Stats(profiler).strip_dirs().sort_stats("cumulative").print_stats(40)


def _ms(figure: Figure) -> str:
    return f"{figure.seconds * 1000:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
