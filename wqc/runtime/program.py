"""`wqc-runtime`: the runtime image's program, with a command for each thing that runs beside a manager."""

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence

from wqc.runtime.logs import log, log_as_json
from wqc.runtime.periods import periods_from


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 when told to stop, 2 for arguments or a port that can't be."""
    from wqc.runtime.ambassador.api import SourceApi
    from wqc.runtime.ambassador.command import add_commands
    from wqc.runtime.ambassador.serving import serve

    parser = argparse.ArgumentParser(
        prog="wqc-runtime", description="What runs beside a manager.", allow_abbrev=False
    )
    add_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    parsed = parser.parse_args(arguments)
    log_as_json()

    async def run() -> None:
        periods = periods_from()
        await serve(SourceApi(parsed.open(parsed, periods)), parsed.port, periods.request)

    try:
        asyncio.run(run())
    except (OSError, ValueError) as error:
        log(logging.ERROR, "it can't start", reason=str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
