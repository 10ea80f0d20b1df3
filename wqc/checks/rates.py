"""Whether the queues can do what arrives: see docs/decisions/rates.md."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf

from wqc.diagnostics.finding import Finding, Label, Level
from wqc.diagnostics.mistake import at_level
from wqc.diagnostics.mistakes import rates as mistakes
from wqc.diagnostics.source import Span
from wqc.diagnostics.wording import number
from wqc.language.values import Duration
from wqc.model.flow import Flow
from wqc.model.nodes import Filter, Queue, Source, Splitter, inputs
from wqc.model.rates import Rates, arriving, attempts_per_item, backlog_of

BUSY = 0.9
"""Above this part of its time a queue falls far behind at every fluctuation."""
MOST_WORKERS = 5000
_ROUNDING = 1e-9
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Load:
    """What a lane has to do and can do. `slot` are the seconds for which an attempt occupies a worker.

    `arrive` (items per second) is `None` where unknown; `waiting` are the items known to be there from the
    start.
    """

    lane: str
    arrive: float | None
    waiting: float
    workers: int
    attempts: float
    slot: float

    @property
    def finish(self) -> float:
        """Items per second that all workers finish."""
        return self.workers / (self.slot * self.attempts)

    @property
    def busy(self) -> float:
        """The part of its time that a worker is busy for."""
        if not self.arrive:
            return 0.0
        return self.arrive / self.finish if self.workers else inf

    def workers_for(self, rate: float) -> int:
        """The fewest that finish so many items per second."""
        return ceil(rate * self.slot * self.attempts - _ROUNDING)


def check_rates(flow: Flow) -> list[Finding]:
    """What is unknown is left out, and one note says so."""
    nodes = flow.workflow.nodes
    backlog = backlog_of(nodes, flow.order, flow.streams)
    findings: list[Finding] = []
    for node in nodes.values():
        if isinstance(node, Queue) and node.takes is not None:
            findings += _queue(node, node.takes, flow, backlog)
        elif isinstance(node, Filter | Splitter):
            findings += _shares(node, flow)
    findings += _jobs(flow)
    findings += _short_work(flow)
    if flow.workflow.complete and not flow.cycles:
        findings += _unknown(flow)
    return findings


def _queue(queue: Queue, takes: Duration, flow: Flow, backlog: Rates) -> Iterator[Finding]:
    loads = _loads(queue, takes, flow, backlog)
    load = max(loads, key=lambda load: load.busy)
    if load.busy <= BUSY + _ROUNDING:
        yield from _deadline(queue, loads)
        return
    given = queue.declaration.attributes.get("parallelism")
    place = given.span if given else queue.declaration.name_span
    lane = mistakes.Lane(
        name=load.lane,
        arrive=load.arrive or 0.0,
        workers=load.workers,
        finish=load.finish,
        enough=load.workers_for((load.arrive or 0.0) / BUSY),
        takes=str(takes),
        pod_start=str(flow.workflow.cluster.pod_start),
        attempts=load.attempts,
    )
    if load.busy >= 1 - _ROUNDING:
        yield mistakes.never_catches_up(place, lane, MOST_WORKERS, _takes_span(queue))
    else:
        yield mistakes.hardly_catches_up(place, lane, load.busy, _takes_span(queue))


def _loads(queue: Queue, takes: Duration, flow: Flow, backlog: Rates) -> Sequence[Load]:
    slot = takes.seconds + flow.workflow.cluster.pod_start.seconds
    waiting = arriving(queue.source, flow.streams, backlog)
    return [
        Load(lane, rate, waiting[lane] or 0.0, queue.parallelism.high, attempts_per_item(queue), slot)
        for lane, rate in flow.arriving(queue.source).items()
    ]


def _deadline(queue: Queue, loads: Sequence[Load]) -> Iterator[Finding]:
    deadline = queue.deadline.seconds
    for load in loads:
        if not load.workers:
            continue
        spare = load.finish - (load.arrive or 0.0)
        waiting = max(load.waiting, 1.0)
        needed = waiting / spare
        if load.slot > deadline:
            reason, hint = f"a single item takes {_time(load.slot)}", ""
        elif needed > deadline + _ROUNDING:
            what = f"the {waiting:.0f} items of the list" if load.waiting > 1 else "a single waiting item"
            reason = f"{what} would be worked off in {_time(needed)}"
            hint = (
                f"parallelism ≥ {load.workers_for(waiting / deadline + (load.arrive or 0.0))} would do, or "
            )
        else:
            continue
        stated = queue.declaration.attributes.get("deadline")
        place = stated.span if stated else queue.declaration.name_span
        finding = mistakes.missed_deadline(
            place, str(queue.deadline), reason, f"{hint}allow more time: `deadline`"
        )
        # Nobody promised the hour that holds where nothing is said.
        yield finding if stated else at_level(finding, Level.NOTE)
        return


def _time(seconds: float) -> str:
    return str(Duration(round(seconds) * 1_000_000 if seconds >= 10 else round(seconds * 1000) * 1000))


def _takes_span(queue: Queue) -> Span:
    """Where it says, or should, how long the work takes."""
    for declaration in (queue.declaration, queue.worker.declaration):
        if "takes" in declaration.attributes:
            return declaration.attributes["takes"].span
    return queue.declaration.span_of("worker")


def _jobs(flow: Flow) -> Iterator[Finding]:
    """Queues about which too little is known don't count."""
    started: list[tuple[float, Queue]] = []
    for queue in flow.workflow.nodes.values():
        if isinstance(queue, Queue) and queue.takes is not None:
            loads = _loads(queue, queue.takes, flow, {})
            jobs = sum(min(load.arrive or 0.0, load.finish) * load.attempts for load in loads)
            started.append((jobs, queue))
    cluster, limit = flow.workflow.cluster, flow.workflow.cluster.jobs_per_second
    total = sum(jobs for jobs, _ in started)
    if total > limit + _ROUNDING:
        stated = cluster.declaration is not None and "jobs_per_second" in cluster.declaration.attributes
        place = flow.workflow.declaration.name_span
        if stated and cluster.declaration is not None:
            place = cluster.declaration.span_of("jobs_per_second")
        largest = sorted(started, key=lambda each: -each[0])[:_LISTED]
        parts = [Label(queue.declaration.name_span, f"{number(jobs)}/s") for jobs, queue in largest if jobs]
        yield mistakes.too_many_jobs(place, total, limit, stated, parts)


def _short_work(flow: Flow) -> Iterator[Finding]:
    """One for all queues that have their `takes` from the same place."""
    start = flow.workflow.cluster.pod_start
    alike: dict[tuple[Duration, int], list[Queue]] = {}
    for queue in flow.workflow.nodes.values():
        if isinstance(queue, Queue) and queue.takes is not None and queue.takes < start:
            alike.setdefault((queue.takes, _takes_span(queue).start), []).append(queue)
    for (takes, _), queues in alike.items():
        names = [queue.name for queue in queues]
        place, work = queues[0].declaration.name_span, _takes_span(queues[0])
        yield mistakes.mostly_pod_start(place, names, str(takes), str(start), work)


def _shares(node: Filter | Splitter, flow: Flow) -> Iterator[Finding]:
    """A share that is assumed matters only where something is known to arrive."""
    if not any(flow.arriving(node.source).values()):
        return
    given = node.declaration.get("share", None)
    if isinstance(node, Splitter):
        cases = [case for case in node.cases if case not in (given or {})]
        if cases:
            yield mistakes.assumed_share(node.declaration.name_span, cases)
    elif given is None:
        yield mistakes.assumed_share(node.declaration.name_span, ())


def _unknown(flow: Flow) -> Iterator[Finding]:
    """One for the workflow, at the first place where something is missing."""
    nodes = flow.workflow.nodes
    queues = [node for node in nodes.values() if isinstance(node, Queue)]
    unknown = [
        queue.name for queue in queues if queue.takes is None or None in flow.arriving(queue.source).values()
    ]
    if not unknown:
        return
    before = _before([queue.name for queue in queues], flow)
    missing: dict[str, Label] = {}
    for name, node in nodes.items():
        if isinstance(node, Source) and name in before and node.arrives is None and node.kind != "items":
            missing[name] = Label(node.declaration.name_span, f"`{name}` has no `arrives`")
    for queue in queues:
        if queue.takes is None:
            worker = queue.worker
            missing[worker.name] = Label(worker.declaration.name_span, f"`{worker.name}` has no `takes`")
    if not missing:  # they read something that isn't there, which was reported
        return
    first, *others = missing.values()
    yield mistakes.unknown_rates(first.span, unknown, first.text, others)


def _before(names: Sequence[str], flow: Flow) -> set[str]:
    """The nodes, and all that their items have passed."""
    found = set(names)
    for name in reversed(flow.order):
        if name in found:
            found.update(stream.node for stream in inputs(flow.workflow.nodes[name]))
    return found
