"""Running the command line as people do."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """What a command left behind; compare a whole one, so that a failing test shows everything at once."""

    status: int
    out: str
    err: str


def wqc(*arguments: str | Path, folder: Path, given: str | bytes = b"", **environment: str) -> Ran:
    """Run `wqc` in `folder` with `given` as its standard input."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "wqc", *map(str, arguments)],
        cwd=folder,
        input=given.encode() if isinstance(given, str) else given,
        env={**kept, **environment},
        capture_output=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
