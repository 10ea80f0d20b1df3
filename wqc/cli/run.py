"""`wqc run`"""

import asyncio
import gc
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from wqc.cli import files
from wqc.cli.arguments import add_colour_option, add_compiler_options
from wqc.cli.compiler import options
from wqc.cli.ending import Status, Trouble, status_of
from wqc.cli.report import report
from wqc.pipeline import build

if TYPE_CHECKING:
    from wqc.cli.locally import Local
    from wqc.runtime.periods import Periods

DESCRIPTION = """\
Run a workflow with processes on this machine instead of Jobs on a cluster. What is finished is kept in
a folder, so that the next run goes on where this one stopped, however it stopped."""
EXAMPLE = """wqc run examples/thumbnails.wq --volume media=./clips
  wqc run w.wq --command mailer=./send.sh --until-empty   # stop when nothing is left (1 if items failed)"""

REFRESH = 0.5
"""Seconds."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .wq file, or - for standard input")
    parser.add_argument(
        "--volume",
        metavar="NAME=FOLDER",
        type=_pair,
        action="append",
        default=[],
        help="the folder that stands for a persistent volume claim",
    )
    parser.add_argument(
        "--command",
        dest="program",
        metavar="WORKER=PROGRAM",
        type=_pair,
        action="append",
        default=[],
        help="the program that stands for a worker's image and command",
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
    from wqc.runtime.periods import Periods, periods_from

    try:
        periods = periods_from(usual=Periods(flush=1.0, listing=2.0, report=1.0))
    except ValueError as error:
        raise Trouble(str(error)) from None
    volumes = {name: Path(folder) for name, folder in arguments.volume}
    programs = {name: str(_program(Path(path))) for name, path in arguments.program}
    local = locally(model, built.files, volumes, programs, periods)
    gc.enable()  # what follows may run for weeks
    return asyncio.run(_run(local, arguments.state / model.name, periods, until_empty=arguments.until_empty))


async def _run(local: "Local", state: Path, periods: "Periods", *, until_empty: bool) -> Status:
    from wqc.cli.livetable import failures
    from wqc.cli.screen import Screen
    from wqc.runtime.manager import Manager
    from wqc.runtime.stores.local.state import LocalStateStore
    from wqc.runtime.stores.local.store import InUse, LocalStore

    try:
        state.mkdir(parents=True, exist_ok=True)
        store = LocalStore(state, local.files, local.commands)
    except InUse as error:
        raise Trouble(str(error)) from None
    except OSError as error:
        raise Trouble(f"cannot keep its state in {state}: {error.strerror}") from None
    screen = Screen(sys.stdout)
    manager = Manager(local.workflow, store, LocalStateStore(state), local.sources, periods)
    task = asyncio.create_task(manager.run())
    try:
        while not (until_empty and manager.status().idle):
            await asyncio.wait((task,), timeout=REFRESH)
            if task.done():
                task.result()
            screen.show(manager.status())
        status = manager.status()
        screen.show(status, last=True)
        for line in failures(status):
            print(line, file=sys.stderr)
        return Status.FINDINGS if failures(status) else Status.CLEAN
    except asyncio.CancelledError:
        print("stopped; the next run goes on from here", file=sys.stderr)
        raise
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await store.close()


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise ArgumentTypeError(f"expected NAME=PATH, not {text!r}")
    return name, value


def _program(path: Path) -> Path:
    found = path.absolute()
    if not found.is_file():
        raise Trouble(f"there is no program {path}")
    if not found.stat().st_mode & 0o111:
        raise Trouble(f"{path} isn't executable: chmod +x {path}")
    return found
