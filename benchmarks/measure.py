"""Wall time and peak memory of commands, measured in turns so that a busy moment hits all alike."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from threading import Timer

Command = Sequence[str | os.PathLike[str]]

# getrusage counts in KiB, but on macOS in bytes.
_PER_MEBIBYTE = 1 << 20 if sys.platform == "darwin" else 1 << 10


class Failed(Exception):
    """A measured command that exited with an error; its text says which and why."""


@dataclass(frozen=True)
class Figure:
    """Medians. `cpu`: seconds of all cores together. `ended`: not stopped at the time limit."""

    seconds: float
    cpu: float
    mebibytes: float
    ended: bool = True


def rounds(commands: Mapping[str, Command], times: int, limit: float = 120) -> dict[str, Figure]:
    """Each command `times` times, in turns; one that exceeds `limit` seconds runs once. Raises `Failed`."""
    figures: dict[str, list[Figure]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            if all(figure.ended for figure in figures[name]):
                figures[name].append(once(command, limit))
    return {
        name: Figure(
            median(figure.seconds for figure in several),
            median(figure.cpu for figure in several),
            median(figure.mebibytes for figure in several),
            all(figure.ended for figure in several),
        )
        for name, several in figures.items()
    }


def once(command: Command, limit: float) -> Figure:
    """One run; what it prints is thrown away. Memory is the largest of its processes'."""
    with TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        timer = Timer(limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        ended = seconds < limit
        if ended and process.returncode:
            said.seek(0)
            words = said.read().decode(errors="replace").strip()[-500:]
            raise Failed(f"{Path(command[0]).name}: exit code {process.returncode}: {words}")
    return Figure(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / _PER_MEBIBYTE, ended)
