"""`wqc status`"""

import asyncio
import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from wqc.cli import running
from wqc.cli.ending import Status, Trouble
from wqc.cli.running import Place, log_tails, place, read_entries, report_in

if TYPE_CHECKING:
    from wqc.runtime.manager.status import Report

DESCRIPTION = """\
Say what running workflows do: how many items wait, run, are done and failed, how fast, what keeps them
from going on, and the last failures. The exit code is 1 if an item failed, something is in the way, or no
manager runs."""
EXAMPLE = """wqc status -n media
  wqc status thumbnails --state .wqc --watch    # of a wqc run on this machine"""

REFRESH = 2.0
"""Seconds."""
NAMES_SHOWN = 3
"""Items of one request."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asked of a queue or node and no manager has done yet. `items`: None for all that failed,
    or where it isn't about items.
    """

    queue: str
    action: str
    items: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """One workflow. `tails`: by Job, the end of what its worker wrote."""

    workflow: str
    managed: bool | None
    report: "Report | None"
    tails: dict[str, list[str]]
    asked: tuple[Asked, ...]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("workflow", metavar="WORKFLOW", nargs="?", help="only this one")
    running.add_arguments(parser)
    parser.add_argument("--watch", action="store_true", help="again and again, until interrupted")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="(default: text)")


def run(arguments: Namespace) -> Status:
    return asyncio.run(_run(place(arguments), arguments))


async def _run(found: Place, arguments: Namespace) -> Status:
    before: list[str] = []
    while True:
        stream = sys.stdout
        try:
            shown = await look(found, arguments.workflow)
            lines = as_json(shown) if arguments.format == "json" else as_text(shown, time.time())
        except Trouble as trouble:
            if not before:
                raise
            stream, lines = sys.stderr, [f"wqc: {trouble}"]  # a server that is away for a while, say
        if arguments.watch and stream.isatty():
            stream.write("\x1b[H\x1b[J")
        if lines != before or stream.isatty():
            print(*lines, sep="\n", file=stream, flush=True)
        before = lines
        if not arguments.watch:
            return Status.FINDINGS if any(map(is_wrong, shown)) else Status.CLEAN
        await asyncio.sleep(REFRESH)


async def look(found: Place, wanted: str | None) -> list[Shown]:
    """Raises Trouble."""
    names = await found.workflows()
    if wanted is not None and wanted not in names:
        raise Trouble(f"{found.where} has no workflow {wanted}, but {', '.join(names) or 'none at all'}")
    if not names:
        raise Trouble(f"{found.where} has no workflow whose manager ever ran")
    return [await _look(found, workflow) for workflow in ([wanted] if wanted else names)]


async def _look(found: Place, workflow: str) -> Shown:
    entries = await read_entries(found, workflow)
    report = report_in(entries, workflow)
    tails = await log_tails(found, workflow, report.status) if report else {}
    asked = tuple(_asked(entries, report)) if report else ()
    return Shown(workflow, await found.is_managed(workflow), report, tails, asked)


def _asked(entries: Mapping[str, str], report: "Report") -> Iterator[Asked]:
    from wqc.runtime.manager.requests import is_paused, requests
    from wqc.runtime.queue.queue import PAUSED_BY_PERSON

    for queue in report.status.queues:
        if is_paused(entries, queue.queue) and queue.blocked_by != "paused":
            yield Asked(queue.queue, "pause")
        if queue.blocked == PAUSED_BY_PERSON and not is_paused(entries, queue.queue):
            yield Asked(queue.queue, "resume")
    for request in requests(entries).values():
        if request and not request.done:
            yield Asked(request.queue, request.action, request.items)


def is_wrong(shown: Shown) -> bool:
    from wqc.cli.livetable import failed, problems

    if shown.report is None or shown.managed is False:
        return True
    return bool(failed(shown.report.status) or problems(shown.report.status))


def as_text(shown: list[Shown], now: float) -> list[str]:
    lines: list[str] = []
    for each in shown:
        lines += ([""] if lines else []) + _text(each, now)
    return lines


def _text(shown: Shown, now: float) -> list[str]:
    from wqc.cli.livetable import duration, failures, table

    if shown.report is None:
        return [f"{shown.workflow}: its manager never ran"]
    age = duration(max(0.0, now - shown.report.time))
    head = (
        f"{shown.workflow}: no manager runs; this is from {age} ago"
        if shown.managed is False
        else shown.workflow
    )
    asked = (f"{each.queue}: asked for, and not done yet: {_in_words(each)}" for each in shown.asked)
    return [head, *table(shown.report.status), *failures(shown.report.status, shown.tails), *asked]


def _in_words(asked: Asked) -> str:
    from wqc.runtime.text import one_line

    if asked.action in ("pause", "resume"):
        return asked.action
    if asked.items is None:
        return f"{asked.action} of all that failed"
    more = len(asked.items) - NAMES_SHOWN
    names = ", ".join(one_line(item) for item in asked.items[:NAMES_SHOWN])
    return f"{asked.action} of {names}{f' and {more} more' if more > 0 else ''}"


def as_json(shown: list[Shown]) -> list[str]:
    """`time`: seconds since the epoch; `rate`: items per second."""
    return [json.dumps({"workflows": [_json(each) for each in shown]}, indent=2)]


def _json(shown: Shown) -> dict[str, Any]:
    said: dict[str, Any] = {"workflow": shown.workflow, "managed": shown.managed, "time": None}
    said["asked"] = [asdict(each) for each in shown.asked]
    if shown.report:
        said |= {"time": shown.report.time, **asdict(shown.report.status)}
        for queue, status in zip(said["queues"], shown.report.status.queues, strict=True):
            queue["seconds_left"] = status.seconds_left
            for failure in queue["failures"]:
                failure["log"] = shown.tails[failure["job"]]
    return said
