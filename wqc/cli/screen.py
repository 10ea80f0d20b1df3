"""A live table on a terminal, and plain lines elsewhere."""

import logging
import os
import time
from collections.abc import Iterator
from typing import TextIO

from wqc.cli.livetable import INCOMPLETE, retrying, table
from wqc.runtime.logs import LOGGER
from wqc.runtime.manager.status import Status
from wqc.runtime.text import one_line

UNKNOWN = os.terminal_size((80, 24))
"""Taken for the size of a terminal that says 0, such as a serial line's."""
QUIET = 10.0
"""Seconds between two lines about a queue or carrier where there is no terminal."""


class Notices(logging.Handler):
    """What the manager logs, as lines for people, until somebody prints them."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "facts", {})
        who = next((facts[key] for key in ("queue", "source", "carrier", "node") if key in facts), None)
        item = f" {one_line(str(facts['item']))}" if "item" in facts else ""
        reason = f": {one_line(str(facts['reason']))}" if "reason" in facts else ""
        self.lines.append(f"{f'{who}: ' if who else ''}{record.getMessage()}{item}{reason}")


class Screen:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._drawn = 0
        self._said: dict[str, tuple[float, str]] = {}
        self._notices = Notices()
        LOGGER.handlers = [self._notices]
        LOGGER.propagate = False

    def show(self, status: Status, last: bool = False) -> None:
        """What has changed since the last call; all of it if it is the last."""
        notices, self._notices.lines = self._notices.lines, []
        if self._live:
            self._redraw(notices, table(status))
        else:
            for line in notices:
                print(line, file=self._stream)
            self._report(status, last)
        self._stream.flush()

    def _redraw(self, notices: list[str], lines: list[str]) -> None:
        if self._drawn:
            self._stream.write(f"\x1b[{self._drawn}A\x1b[J")
        for line in notices:
            print(line, file=self._stream)
        size = os.get_terminal_size(self._stream.fileno())
        columns, rows = size.columns or UNKNOWN.columns, size.lines or UNKNOWN.lines
        # what is wrapped or scrolled away can't be drawn over
        shown = [line[: max(1, columns - 1)] for line in lines[: max(1, rows - 1)]]
        for line in shown:
            print(line, file=self._stream)
        self._drawn = len(shown)

    def _report(self, status: Status, last: bool) -> None:
        now = time.monotonic()
        for node, line in _lines(status):
            at, before = self._said.get(node, (now - QUIET, ""))
            if last or (line != before and now - at >= QUIET):
                print(f"{node}: {line}", file=self._stream)
                self._said[node] = (now, line)


def _lines(status: Status) -> Iterator[tuple[str, str]]:
    yield from ((source.source, INCOMPLETE) for source in status.sources if source.settling)
    for queue in status.queues:
        counts = f"{queue.waiting} waiting, {queue.running} running, {queue.done} done, {queue.failed} failed"
        yield queue.queue, _with(counts, queue.blocked, retrying(queue))
    for carrier in status.carriers:
        yield carrier.carrier, _with(f"{carrier.waiting} waiting, {carrier.done} published", carrier.blocked)


def _with(counts: str, *said: str) -> str:
    return "; ".join([counts, *(one_line(each) for each in said if each)])
