"""`wqc fill`"""

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wqc.cli import files
from wqc.cli.arguments import FilledPairs, add_compiler_options, add_findings_options
from wqc.cli.compiler import options
from wqc.cli.ending import Status, Trouble, status_of
from wqc.cli.report import report
from wqc.model.nodes import Source
from wqc.model.workflow import Workflow
from wqc.pipeline import check

if TYPE_CHECKING:
    from wqc.cli.entries import Portions
    from wqc.cli.standins import Given
    from wqc.runtime.filling.opening import Filling
    from wqc.runtime.sources import source as running

DESCRIPTION = """\
Put items on the queue, topic, list or stream that a source reads: words, the lines of a file, or what
another source has. What is there already stays."""
EXAMPLE = """wqc fill examples/coarse.wq words apple banana cherry --create --secret rabbitmq/url=url.txt
  seq 1000 | wqc fill examples/fine.wq words --lines -
  wqc fill w.wq orders --from old_orders     # what a broker holds is taken off there, once it is here"""

PLACE = ("brokers", "queue", "key", "topic")
"""The options of a source that say where its messages are."""
PATIENCE = 30.0
"""Seconds for a broker's answer."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .wq file, or - for standard input")
    parser.add_argument("source", metavar="SOURCE", help="the source that reads them, or SOURCE.MEMBER")
    parser.add_argument("items", metavar="ITEM", nargs="*", help="an item, in the source's format")
    parser.add_argument("--lines", metavar="FILE", help="each line is an item; - for standard input")
    parser.add_argument("--from", dest="origin", metavar="SOURCE", help="the source that has the items")
    parser.add_argument("--create", action="store_true", help="make the queue or topic if it isn't there")
    for option, metavar, text in (
        ("secret", "NAME/KEY=FILE", "the file that holds a secret's value; else it is in $NAME_KEY"),
        ("volume", "NAME=FOLDER", "the folder that stands for a volume that --from reads"),
    ):
        parser.add_argument(
            f"--{option}", dest=f"{option}s", metavar=metavar, action=FilledPairs, default={}, help=text
        )
    add_compiler_options(parser)
    add_findings_options(parser)


def run(arguments: Namespace) -> Status:
    if sum(map(bool, (arguments.items, arguments.lines, arguments.origin))) != 1:
        raise Trouble("which items? Name them, a file with --lines or a source with --from: one of the three")
    if arguments.lines == arguments.file == "-":
        raise Trouble("standard input can't be both the workflow and the items")
    checked = check(files.read(arguments.file), options(arguments))
    report(checked.findings, arguments, sys.stderr)
    model = checked.workflow
    if status_of(checked.findings) is not Status.CLEAN or model is None:
        return Status.FINDINGS
    asyncio.run(_run(arguments, model))
    return Status.CLEAN


async def _run(arguments: Namespace, model: Workflow) -> None:
    from wqc.cli.entries import from_lines, from_source
    from wqc.cli.standins import Given

    given = Given(_paths(arguments.volumes), {}, {}, _paths(arguments.secrets))
    with _troubles():
        filling = _filling(model, arguments.source, given, create=arguments.create)
        if arguments.origin:
            if _place(model, arguments.origin, given) == _place(model, arguments.source, given):
                raise Trouble(f"{arguments.origin} reads {filling.place} itself: its items are there already")
            origin = _open(model, arguments.origin, given)
            try:
                await _fill(filling, from_source(origin, arguments.origin, filling.format))
            finally:
                await origin.close()
        else:
            with _lines(arguments) as lines:
                await _fill(filling, from_lines(lines, filling.format))


async def _fill(filling: "Filling", portions: "Portions") -> None:
    from wqc.runtime.filling.filler import Absent
    from wqc.runtime.sources.source import SourceError

    count = 0
    try:
        async for entries in portions:
            await filling.filler.put(entries)
            count += len(entries)
    except Absent as error:
        raise Trouble(f"{error}; with --create it is made") from None
    except (SourceError, Trouble) as error:
        raise Trouble(f"{error}{f'; {count} items are on {filling.place}' if count else ''}") from None
    finally:
        await filling.filler.close()
    print(f"{count} {'item is' if count == 1 else 'items are'} on {filling.place}")


def _filling(model: Workflow, name: str, given: "Given", *, create: bool) -> "Filling":
    """Raises SourceError, Trouble."""
    from wqc.cli.settings_here import source_settings_here
    from wqc.runtime.filling.opening import open_filler

    source, member = _find(model, name)
    settings = source_settings_here(model.name, source, member, given)
    return open_filler(settings, member, create=create, timeout=PATIENCE)


def _place(model: Workflow, name: str, given: "Given") -> tuple[object, ...]:
    """Which queue, list, stream or topic of which server a source reads. Raises SourceError, Trouble."""
    from wqc.cli.settings_here import source_settings_here

    source, member = _find(model, name)
    settings = source_settings_here(model.name, source, member, given)
    read = settings.members[member] if member else settings.options
    return settings.kind, *(read.get(option) for option in PLACE)


def _open(model: Workflow, name: str, given: "Given") -> "running.Source":
    """Raises SourceError, Trouble."""
    from wqc.cli.settings_here import source_settings_here
    from wqc.runtime.periods import Periods
    from wqc.runtime.sources.opening import open_source

    source, member = _find(model, name)
    return open_source(source_settings_here(model.name, source, member, given), member, Periods())


def _find(model: Workflow, name: str) -> tuple[Source, str]:
    """The source and which of its members. Raises Trouble."""
    sources = {node.name: node for node in model.nodes.values() if isinstance(node, Source)}
    wanted, dot, member = name.partition(".")
    if wanted not in sources:
        raise Trouble(f"there is no source {wanted}, but {', '.join(sources) or 'none at all'}")
    source = sources[wanted]
    if dot and member not in source.members:
        raise Trouble(
            f"the source {wanted} has no member {member}, but {', '.join(source.members) or 'none'}"
        )
    if source.members and not dot:
        raise Trouble(f"which one of {wanted}? {', '.join(f'{wanted}.{each}' for each in source.members)}")
    return source, member


@contextmanager
def _lines(arguments: Namespace) -> Iterator[Iterator[bytes]]:
    """Without their ends. Raises Trouble."""
    if arguments.items:
        yield (item.encode(errors="surrogateescape") for item in arguments.items)
        return
    try:
        file = sys.stdin.buffer if arguments.lines == "-" else open(arguments.lines, "rb")  # noqa: SIM115
    except OSError as error:
        raise Trouble(f"cannot read {arguments.lines}: {(error.strerror or str(error)).lower()}") from None
    with file:
        yield (line.removesuffix(b"\n").removesuffix(b"\r") for line in file)


@contextmanager
def _troubles() -> Iterator[None]:
    from wqc.runtime.sources.source import SourceError

    try:
        yield
    except SourceError as error:
        raise Trouble(str(error)) from None


def _paths(given: Mapping[str, str]) -> dict[str, Path]:
    return {name: Path(path) for name, path in given.items()}
