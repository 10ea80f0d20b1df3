"""Small disks of their own, for tests that fill one or make it read-only."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.need import unavailable


@contextmanager
def mounted(place: Path, options: str) -> Iterator[Path]:
    """A tmpfs at `place`; needs the right to mount."""
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        unavailable(f"a small disk needs the right to mount: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
