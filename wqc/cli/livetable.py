"""What a running workflow's queues do, as a table."""

from collections.abc import Mapping, Sequence

from wqc.runtime.manager.status import CarrierStatus, Failure, QueueStatus, Status
from wqc.runtime.text import one_line

INCOMPLETE = "has more that isn't complete yet"
_COLUMNS = ("queue", "waiting", "running", "done", "failed", "rate", "time left")


def table(status: Status) -> list[str]:
    """Its lines: a row for each queue and carrier, then what is in the way, and what is waited for."""
    rows = [_COLUMNS, *map(_row, status.queues), *map(_carrier_row, status.carriers)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = [_line(row, widths) for row in rows]
    said = [*problems(status), *((queue.queue, retrying(queue)) for queue in status.queues)]
    said += [(source.source, INCOMPLETE) for source in status.sources if source.settling]
    return [*lines, *(f"{who}: {why}" for who, why in said if why)]


def problems(status: Status) -> list[tuple[str, str]]:
    """Who can't go on, or lost something, and why."""
    found = [(each.source, each.problem) for each in status.sources if each.problem]
    found += [(each.queue, why) for each in status.queues for why in (each.blocked, each.notice) if why]
    found += [(each.node, each.blocked) for each in status.nodes if each.blocked]
    found += [(each.carrier, each.blocked) for each in status.carriers if each.blocked]
    return [(who, one_line(why)) for who, why in found]


def retrying(queue: QueueStatus) -> str:
    """The first item that waits for another attempt, and how many more do; "" if none does."""
    if not queue.retrying.count:
        return ""
    first, more = queue.retrying.first[0], queue.retrying.count - 1
    said = f"{one_line(first.item)} waits for another attempt: {one_line(first.reason)}"
    return f"{said}; {more} more {'does' if more == 1 else 'do'}" if more else said


def failures(status: Status, tails: Mapping[str, Sequence[str]]) -> list[str]:
    """For each item that failed and is held, at most ten of a queue or node, a line and the end of what its
    worker wrote: `tails`, by Job. Then how many more there are.
    """
    lines: list[str] = []
    for who, each in failed(status):
        lines.append(f"{who}: {one_line(each.item)} failed: {one_line(each.reason)}")
        lines += (f"    {one_line(line)}" for line in tails.get(each.job, ()))
    hidden = [(each.queue, each.held - len(each.failures)) for each in status.queues]
    hidden += [(each.node, each.failed - len(each.failures)) for each in status.nodes]
    return lines + [f"{who}: {more} more failed before these" for who, more in hidden if more > 0]


def left_out(status: Status) -> list[str]:
    """A line for each source that has items which nobody can take."""
    return [
        f"{each.source}: items left out: {each.left_out}; {one_line(each.problem)}"
        for each in status.sources
        if each.left_out
    ]


def left(status: Status) -> list[str]:
    """A line for each queue whose items nobody works on until a person does something."""
    return [
        f"{each.queue}: items left: {each.waiting}; {one_line(each.blocked)}"
        for each in status.queues
        if status.stalled and each.waiting and each.blocked
    ]


def failed(status: Status) -> list[tuple[str, Failure]]:
    """The queue or pattern node, and an item that failed there and is held."""
    queues = [(queue.queue, each) for queue in status.queues for each in queue.failures]
    return queues + [(node.node, each) for node in status.nodes for each in node.failures]


def held(status: Status) -> int:
    """How many failed items are held."""
    return sum(each.held for each in status.queues) + sum(each.failed for each in status.nodes)


def _row(queue: QueueStatus) -> tuple[str, ...]:
    left = queue.seconds_left
    return (
        queue.queue,
        str(queue.waiting),
        str(queue.running),
        str(queue.done),
        str(queue.failed),
        _rate(queue.rate),
        "" if left is None else duration(left),
    )


def _carrier_row(carrier: CarrierStatus) -> tuple[str, ...]:
    return (carrier.carrier, str(carrier.waiting), "", str(carrier.done), "", _rate(carrier.rate), "")


def _rate(per_second: float) -> str:
    return f"{per_second:.1f}/s" if per_second >= 1 else f"{per_second * 60:.1f}/min"


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
