"""`wqc run`"""

import asyncio
import gc
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from shutil import which

from wqc.cli import files
from wqc.cli.arguments import FilledPairs, add_compiler_options, add_findings_options
from wqc.cli.compiler import options
from wqc.cli.ending import Status, Trouble, status_of
from wqc.cli.report import report
from wqc.pipeline import check

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
            f"--{option}", dest=f"{option}s", metavar=metavar, action=FilledPairs, default={}, help=text
        )
    parser.add_argument("--until-empty", action="store_true", help="stop when nothing is left to do")
    parser.add_argument(
        "--state", metavar="DIR", type=Path, default=Path(".wqc"), help="where it is kept (default: .wqc)"
    )
    add_compiler_options(parser)
    add_findings_options(parser)


def run(arguments: Namespace) -> Status:
    checked = check(files.read(arguments.file), options(arguments))
    report(checked.findings, arguments, sys.stderr)
    model = checked.workflow
    if status_of(checked.findings) is not Status.CLEAN or model is None:
        return Status.FINDINGS
    from wqc.cli.batches import as_queues
    from wqc.cli.locally import locally
    from wqc.cli.run_here import run_here
    from wqc.cli.standins import Given
    from wqc.runtime.periods import Periods, periods_from

    try:
        periods = periods_from(usual=Periods(flush=1.0, listing=2.0, report=1.0))
    except ValueError as error:
        raise Trouble(str(error)) from None
    given = Given(
        _paths(arguments.volumes),
        {worker: _program(name) for worker, name in arguments.commands.items()},
        arguments.sources,
        _paths(arguments.secrets),
    )
    model, written = as_queues(model, arguments.image)
    local = locally(model, written, given, periods)
    gc.enable()  # what follows may run for weeks
    return asyncio.run(run_here(local, arguments.state / model.name, periods, arguments.until_empty))


def _paths(given: dict[str, str]) -> dict[str, Path]:
    return {name: Path(path) for name, path in given.items()}


def _program(name: str) -> Path:
    """As a shell finds it, but for a file that is here."""
    found = None if "/" in name or Path(name).exists() else which(name)
    return Path(found or name)
