"""`wqc run`"""

import asyncio
import gc
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from wqc.cli import files
from wqc.cli.arguments import Pairs, add_colour_option, add_compiler_options
from wqc.cli.compiler import options
from wqc.cli.ending import Status, Trouble, status_of
from wqc.cli.report import report
from wqc.pipeline import build

DESCRIPTION = """\
Run a workflow with processes on this machine instead of Jobs on a cluster. What is finished is kept in
a folder, so that the next run goes on where this one stopped, however it stopped."""
EXAMPLE = """wqc run examples/thumbnails.wq --volume media=./clips
  wqc run w.wq --command mailer=./send.sh --until-empty   # stop when nothing is left (1 if items failed)"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .wq file, or - for standard input")
    for option, metavar, text in (
        (
            "volume",
            "NAME=FOLDER",
            "the folder that stands for a volume, where a source or a worker mounts it",
        ),
        ("command", "WORKER=PROGRAM", "the program that stands for a worker's image; arguments stay"),
        ("source", "SOURCE=URL", "a Source API to read instead; what a source of kind container needs"),
        ("secret", "NAME/KEY=FILE", "the file that holds a secret's value; else it is in $NAME_KEY"),
    ):
        parser.add_argument(
            f"--{option}", dest=f"{option}s", metavar=metavar, action=Pairs, default={}, help=text
        )
    parser.add_argument("--until-empty", action="store_true", help="stop when nothing is left to do")
    parser.add_argument(
        "--state", metavar="DIR", type=Path, default=Path(".wqc"), help="where it is kept (default: .wqc)"
    )
    add_compiler_options(parser)
    add_colour_option(parser)
    parser.set_defaults(format="text", notes=False)


def run(arguments: Namespace) -> Status:
    built = build(files.read(arguments.file), options(arguments))
    report(built.checked.findings, arguments, sys.stderr)
    model = built.checked.workflow
    if status_of(built.checked.findings) is not Status.CLEAN or model is None:
        return Status.FINDINGS
    from wqc.cli.locally import locally
    from wqc.cli.run_here import run_here
    from wqc.cli.standins import Given
    from wqc.runtime.periods import Periods, periods_from

    try:
        periods = periods_from(usual=Periods(flush=1.0, listing=2.0, report=1.0))
    except ValueError as error:
        raise Trouble(str(error)) from None
    given = Given(
        _paths(arguments.volumes), _paths(arguments.commands), arguments.sources, _paths(arguments.secrets)
    )
    local = locally(model, built.files, given, periods)
    gc.enable()  # what follows may run for weeks
    return asyncio.run(run_here(local, arguments.state / model.name, periods, arguments.until_empty))


def _paths(given: dict[str, str]) -> dict[str, Path]:
    return {name: Path(path) for name, path in given.items()}
