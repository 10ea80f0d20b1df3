"""What a running workflow's queues do, as a table."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from wqc.runtime.manager import Status
from wqc.runtime.queue import QueueStatus

WINDOW = 60.0
"""Seconds that a rate is measured over."""
_COLUMNS = ("queue", "waiting", "running", "done", "failed", "rate", "time left")


@dataclass(slots=True)
class Rates:
    """Finished items per second, by queue."""

    _seen: dict[str, deque[tuple[float, int]]] = field(default_factory=dict)

    def observe(self, now: float, status: Status) -> None:
        for queue in status.queues:
            seen = self._seen.setdefault(queue.queue, deque())
            seen.append((now, queue.done + queue.failed))
            while len(seen) > 2 and seen[1][0] <= now - WINDOW:
                seen.popleft()

    def of(self, queue: str) -> float:
        seen = self._seen.get(queue)
        if not seen or seen[-1][0] <= seen[0][0]:
            return 0.0
        return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])


def table(status: Status, rates: Rates) -> list[str]:
    """Its lines: a row for each queue, then what is in the way."""
    rows = [_COLUMNS, *(_row(queue, rates.of(queue.queue)) for queue in status.queues)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = [_line(row, widths) for row in rows]
    return [*lines, *(f"{who}: {why}" for who, why in problems(status))]


def problems(status: Status) -> list[tuple[str, str]]:
    """Who can't go on, and why."""
    found = [(each.source, each.problem) for each in status.sources if each.problem]
    found += [(each.queue, each.blocked) for each in status.queues if each.blocked]
    return found


def failures(status: Status) -> list[str]:
    """A line for each item that failed and is held, at most ten of a queue."""
    failed = [
        f"{queue.queue}: {one_line(item)} failed: {one_line(reason)}"
        for queue in status.queues
        for item, reason in queue.failures
    ]
    return failed + [
        f"{each.node}: {one_line(each.name)} failed: {one_line(each.reason)}" for each in status.stuck
    ]


def one_line(text: str) -> str:
    """Printable, whatever an item is called."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _row(queue: QueueStatus, rate: float) -> tuple[str, ...]:
    left = queue.waiting + queue.running
    return (
        queue.queue,
        str(queue.waiting),
        str(queue.running),
        str(queue.done),
        str(queue.failed),
        f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min",
        duration(left / rate) if left and rate else "",
    )


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = row
    cells = [
        first.ljust(widths[0]),
        *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)),
    ]
    return "  ".join(cells).rstrip()


def duration(seconds: float) -> str:
    """`42s`, `3m 20s`, `1h 05m`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole // 60 % 60:02}m"
