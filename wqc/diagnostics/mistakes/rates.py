"""WQ5xx: more work than can be done, or in time."""

from collections.abc import Sequence
from dataclasses import dataclass

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.source import Span
from wqc.diagnostics.wording import listed, number, numbers

_HEAD = """\
workflow w
manager { image = "example.com/wqc-runtime:1" }
"""
_SOURCE = 'source s: http { url = "https://example.com", arrives = 1s }\n'
_WORKER = 'worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 30s }\n'
_QUEUE = _HEAD + _SOURCE + _WORKER + "queue q { from = s, worker = k, parallelism = 1..40 }\n"
_FILTERED = (
    _QUEUE.replace("from = s", "from = f") + "filter f { from = s, where = item.name != '', share = 0.5 }\n"
)


@dataclass(frozen=True, slots=True)
class Lane:
    """The numbers of a queue, or of its lane `name`: rates in items per second, times as people write them.

    `finish` is what all its `workers` do together; `enough` of them would be busy for 90 % of the time.
    """

    name: str
    arrive: float
    workers: int
    finish: float
    enough: int
    takes: str
    pod_start: str
    attempts: float

    @property
    def rates(self) -> str:
        arrive, finish = numbers(self.arrive, self.finish)
        workers = "1 worker finishes" if self.workers == 1 else f"{self.workers} workers finish"
        return f"{arrive} items/s arrive, {workers} {finish}/s"

    @property
    def where(self) -> str:
        return f" in its lane `{self.name}`" if self.name else ""

    @property
    def arithmetic(self) -> str:
        """How the workers' rate comes about."""
        _, finish = numbers(self.arrive, self.finish)
        attempts = f" ÷ {number(self.attempts, 3)} attempts" if self.attempts > 1 else ""
        slot = f"({self.takes} of work + {self.pod_start} for the pod to start)"
        return f"{self.workers} ÷ {slot}{attempts} = {finish}/s"


@mistake(
    "WQ501",
    Level.ERROR,
    bad=_QUEUE.replace("1..40", "1..20"),
    good=_QUEUE,
)
def never_catches_up(lane: Lane, most: int, takes: Span) -> Words:
    """A queue that never catches up

    More items arrive than its largest parallelism can finish, so that ever more of them wait. A worker is
    occupied with an item for `takes` plus the time that a pod takes to start (`cluster { pod_start = 3s
    }`), once per attempt (`failure_rate`). A queue that is busy all the time falls behind at every
    fluctuation, hence the 90 %.
    """
    remedy = f"parallelism ≥ {lane.enough} would do (90 % busy)"
    if lane.enough > most:
        remedy = f"not even the largest parallelism, {most}, would do"
    return Words(
        f"never catches up{lane.where}: {lane.rates}; {remedy}",
        also=(Label(takes, "what one item takes"),),
        help=f"{lane.arithmetic}\nraise `parallelism`, or make the work on an item shorter",
    )


@mistake(
    "WQ502",
    Level.WARNING,
    bad=_QUEUE.replace("1..40", "1..34"),
    good=_QUEUE,
)
def hardly_catches_up(lane: Lane, busy: float, takes: Span) -> Words:
    """A queue that is busy for more than 90 % of the time

    It keeps up in the mean, but every fluctuation leaves a long queue behind that takes long to work off.
    """
    percent, *_ = numbers(busy * 100, 90.0, 100.0)
    return Words(
        f"{percent} % busy{lane.where}: {lane.rates}; parallelism ≥ {lane.enough} leaves room (90 % busy)",
        also=(Label(takes, "what one item takes"),),
        help=lane.arithmetic,
    )


@mistake(
    "WQ503",
    Level.WARNING,
    bad=_QUEUE.replace("1..40", "1..40, deadline = 20s"),
    good=_QUEUE.replace("1..40", "1..40, deadline = 10m"),
)
def missed_deadline(deadline: str, reason: str, hint: str) -> Words:
    """A deadline that can't be met

    `deadline` (1h unless given) is the time in which a queue should work off its backlog, while new items
    arrive. It can't be met if a single item takes longer, or if the largest parallelism leaves too little
    to spare: for the items that a list in the file brings all at once, or even for a single one.
    """
    return Words(f"the deadline of {deadline} can't be met: {reason}", help=hint)


@mistake(
    "WQ504",
    Level.ERROR,
    bad=_QUEUE.replace("arrives = 1s", "arrives = 200ms").replace("1..40", "1..200"),
    good="cluster { jobs_per_second = 10 }\n"
    + _QUEUE.replace("arrives = 1s", "arrives = 200ms").replace("1..40", "1..200"),
)
def too_many_jobs(rate: float, limit: float, stated: bool, parts: Sequence[Label]) -> Words:
    """More Jobs per second than the cluster starts

    Every attempt at an item is a Job, and a control plane starts and finishes only so many of them in a
    second: three, measured without tuning, unless `cluster { jobs_per_second = … }` says otherwise.
    """
    jobs, most = numbers(rate, limit)
    more = "" if stated else "\nif the cluster does more, say so: cluster { jobs_per_second = … }"
    return Words(
        f"the queues start {jobs} Jobs/s in all, and the cluster does {most}/s",
        also=tuple(parts),
        help=f"put more work into an item, or leave short work to a `batch` of kind `fine`{more}",
    )


@mistake(
    "WQ505",
    Level.NOTE,
    bad=_QUEUE.replace("takes = 30s", "takes = 1s"),
    good=_QUEUE,
)
def mostly_pod_start(queues: Sequence[str], takes: str, pod_start: str, at: Span) -> Words:
    """Work so short that starting pods dominates it

    Every attempt has a pod of its own. Where starting it takes longer than the work, items with more work
    in them save most of the time and of the Jobs.
    """
    return Words(
        f"in {listed(queues)} a pod takes {pod_start} to start, and {takes} to work",
        also=(Label(at, "what one item takes"),),
        help="put more work into an item, or let a `batch` of kind `fine` take many in each pod",
    )


@mistake(
    "WQ506",
    Level.NOTE,
    bad=_QUEUE.replace(", arrives = 1s", ""),
    good=_QUEUE,
)
def unknown_rates(queues: Sequence[str], missing: str, others: Sequence[Label]) -> Words:
    """Rates that aren't known

    How many items arrive (`arrives`) and how long one takes (`takes`) tell whether queues catch up. Without
    them nothing is checked downstream, and autoscaling starts from what it sees.
    """
    return Words(
        f"nothing tells whether {listed(queues)} will catch up",
        label=missing,
        also=tuple(others),
        help="a rough mean is enough",
    )


@mistake(
    "WQ507",
    Level.NOTE,
    bad=_FILTERED.replace(", share = 0.5", ""),
    good=_FILTERED,
)
def assumed_share(cases: Sequence[str]) -> Words:
    """A condition that is taken to hold for every item

    Rates downstream of a filter or a splitter depend on the share of items that get through. Without
    `share` it is all of them.
    """
    if not cases:
        return Words(
            "all items are taken to pass", help="add `share = …`, the part for which the condition holds"
        )
    every = ", ".join(f"{case} = …" for case in cases)
    return Words(f"all items are taken to go to {listed(cases)}", help=f"add to `share`: {{ {every} }}")
