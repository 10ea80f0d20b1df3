"""`wqc-runtime seed FROM TO…`: a pipeline's steps find the item where the step before leaves its result.

A step that writes no result so hands on the item itself.
"""

import argparse
import os
from pathlib import Path

MODE = 0o664
"""The steps may be of different users; their group is one (`fsGroup`)."""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    text = "copy an item's data for each step of a pipeline"
    parser = commands.add_parser(
        "seed", help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False
    )
    parser.add_argument("source", type=Path, metavar="FROM", help="the item's data")
    parser.add_argument(
        "targets", type=Path, nargs="+", metavar="TO", help="a step's result, the next one's item"
    )
    parser.set_defaults(run=lambda arguments: seed(arguments.source, arguments.targets))


def seed(source: Path, targets: list[Path]) -> None:
    """Raises OSError."""
    data = source.read_bytes()
    for target in targets:
        target.write_bytes(data)
        os.chmod(target, MODE)  # whatever the umask is
