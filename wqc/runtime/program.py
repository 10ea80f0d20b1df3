"""`wqc-runtime`: the runtime image's program, with a command for each thing that runs beside a manager."""

import argparse
import logging
import sys
from collections.abc import Sequence

from wqc.runtime import seed
from wqc.runtime.logs import log, log_as_json


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 when done or told to stop, 2 for arguments, a file or a port that can't be."""
    from wqc.runtime.ambassador.command import add_commands
    from wqc.runtime.batch import command as batch

    parser = argparse.ArgumentParser(
        prog="wqc-runtime", description="What runs beside a manager.", allow_abbrev=False
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_commands(commands)
    seed.add_command(commands)
    batch.add_command(commands)
    parsed = parser.parse_args(arguments)
    log_as_json()
    try:
        parsed.run(parsed)
    except (OSError, ValueError) as error:
        log(logging.ERROR, "it can't start", reason=str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
