"""The same for each of several files."""

import sys
from collections.abc import Callable, Iterable

from wqc.cli.ending import Status, Trouble


def each(paths: Iterable[str], action: Callable[[str], Status]) -> Status:
    """The worst that `action` returns; trouble with one file is told, and the others follow."""
    worst = Status.CLEAN
    for path in paths:
        try:
            worst = max(worst, action(path))
        except Trouble as trouble:
            print(f"wqc: {trouble}", file=sys.stderr)
            worst = Status.TROUBLE
    return worst
