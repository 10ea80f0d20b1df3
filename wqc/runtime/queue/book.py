"""What a queue knows about its items: their Jobs, and what is to be done next about each.

All of it can be dropped at any point: it is built anew from the store's first listing.
"""

import time
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from wqc.runtime.graph.origin import Origin
from wqc.runtime.queue.underway import UnderWay
from wqc.runtime.stores.job import Job

Stage = Literal["active", "stray", "retry", "handing", "recording", "finishing", "dead", "over"]
"""
active     an attempt is under way
stray      its last Job is marked done, yet the ledger doesn't have it
retry      the next attempt starts when its back-off is over
handing    it is finished, and not every reader has it
recording  every reader has it, the ledger doesn't
finishing  the ledger has it, its Job isn't marked done
dead       it failed for good, and nobody reads failed items: its Job is the dead letter
over       its Job is marked done
"""

DELETED = "its Job was deleted"
"""Why an attempt is lost whose Job is gone."""


@dataclass(eq=False, slots=True)
class Attempts:
    """The Jobs of one item."""

    key: bytes
    jobs: dict[str, Job] = field(default_factory=dict)
    """By name, in order: the last one says how the item is."""
    stage: Stage | None = None
    judged: Job | None = None
    """The Job that decided the stage."""
    origin: Origin | None = None
    due: float = 0.0
    """When the next attempt may start, on the monotonic clock."""
    reason: str = ""
    renewed: str = ""
    """The failed Job after which a person wants a new round."""

    @property
    def latest(self) -> Job:
        return next(reversed(self.jobs.values()))

    @property
    def last_hindered(self) -> Job:
        """The attempt that is under way, or the one before it until that has started: what was in the way of
        the one may be in the way of the other.
        """
        jobs = reversed(self.jobs.values())
        job = next(jobs)
        return job if job.hindrance or job.running else next(jobs, job)

    def next_attempt(self, round: int) -> int:
        """One above the highest."""
        return 1 + max((job.attempt for job in self.jobs.values() if job.round == round), default=0)

    def put(self, job: Job) -> None:
        self.jobs[job.job] = job
        if len(self.jobs) > 1:
            self.jobs = {each.job: each for each in _in_order(self.jobs.values())}


def _in_order(jobs: Iterable[Job]) -> Iterator[Job]:
    """By their numbers. Where `rework` was `on_change`, each version of an item may have Jobs of its own: the
    newest version's are the last, but for those that are done.
    """
    versions: dict[str, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: (job.round, job.attempt, job.version)):
        versions.setdefault(job.version, []).append(job)
    ages = {version: min(job.created for job in each) for version, each in versions.items()}
    for version in sorted(versions, key=lambda version: (not versions[version][-1].done, ages[version])):
        yield from versions[version]


class Book:
    def __init__(self) -> None:
        self._items: dict[bytes, Attempts] = {}
        self._stages: dict[Stage, dict[bytes, Attempts]] = {stage: {} for stage in get_args(Stage)}
        self._jobs: dict[str, Attempts] = {}
        """By Job, whose it is."""
        self._deleted: set[str] = set()
        """Those that are gone, of items that weren't done."""
        self._superseded: dict[str, Attempts] = {}
        self._done: set[str] = set()
        """Jobs that are marked done."""
        self.under_way = UnderWay()

    def __contains__(self, key: bytes) -> bool:
        return key in self._items

    def get(self, key: bytes) -> Attempts | None:
        return self._items.get(key)

    def at(self, stage: Stage) -> list[Attempts]:
        """In the order in which they came to the stage."""
        return list(self._stages[stage].values())

    def count(self, *stages: Stage) -> int:
        return sum(len(self._stages[stage]) for stage in stages)

    @property
    def done_jobs(self) -> int:
        """How many Jobs are marked done, and still there."""
        return len(self._done)

    def hands_on(self) -> bool:
        """Some finished items are on their way to their readers, and don't wait there for a person."""
        handing = self._stages["handing"].values()
        return any(not (attempts.origin and attempts.origin.is_stuck) for attempts in handing)

    def move(self, attempts: Attempts, stage: Stage) -> None:
        if attempts.stage:
            del self._stages[attempts.stage][attempts.key]
        attempts.stage = stage
        self._stages[stage][attempts.key] = attempts
        self.under_way.see(attempts)

    def job_names(self) -> list[str]:
        """Those that are there."""
        return [name for name in self._jobs if name not in self._deleted]

    def note(self, key: bytes, job: Job) -> Attempts:
        """The Job exists, in this state. The caller then judges the item."""
        attempts = self._items.get(key)
        if attempts is None:
            attempts = self._items[key] = Attempts(key)
            self.move(attempts, "active")
        known = attempts.jobs.get(job.job)
        if known and known.done and not job.done:
            return attempts  # an older state of a Job that this manager marked done
        if known:
            job = _newer(known, job)
        attempts.put(job)
        self.under_way.see(attempts)
        self._jobs[job.job] = attempts
        self._deleted.discard(job.job)
        if job.done:
            self._done.add(job.job)
        if attempts.stage == "over" and not attempts.latest.done:
            self.move(attempts, "active")  # another manager made it
        for older in list(attempts.jobs.values())[:-1]:
            if older.phase != "active" and not older.done:
                self._superseded[older.job] = attempts
        return attempts

    def finished(self, job: Job) -> None:
        """The Job is marked done, or was deleted before."""
        attempts = self._jobs.get(job.job)
        if attempts is None:
            return
        self._superseded.pop(job.job, None)
        attempts.put(replace(job, done=True, data=""))
        if job.job not in self._deleted:
            self._done.add(job.job)
        self._tidy(attempts)

    def forget(self, job: str, recorded: Container[bytes]) -> bytes | None:
        """The Job is gone. Returns its item's key if nothing has the item now, so that it is judged again."""
        attempts = self._jobs.get(job)
        if attempts is None:
            return None
        self._superseded.pop(job, None)
        self._done.discard(job)
        key = attempts.key
        gone = attempts.jobs[job]
        settled = key in recorded or gone.done or attempts.stage in ("recording", "finishing", "over")
        if not settled and gone is attempts.latest:
            # Deleted by hand. Its data is still in memory, so the item isn't lost with it
            attempts.put(replace(gone, phase="lost", finished=time.time(), reason=DELETED, message=None))
            self._deleted.add(job)
            self.under_way.see(attempts)
            return key
        self._drop(job)
        self._tidy(attempts)
        return None

    def _drop(self, job: str) -> None:
        del self._jobs.pop(job).jobs[job]
        self._deleted.discard(job)

    def _tidy(self, attempts: Attempts) -> None:
        """The item goes with the last of its Jobs that is there, or is still to be marked done."""
        if all(job.done and job.job in self._deleted for job in attempts.jobs.values()):
            for job in list(attempts.jobs):
                self._drop(job)
            if attempts.stage:
                del self._stages[attempts.stage][attempts.key]
            del self._items[attempts.key]
        self.under_way.see(attempts)

    def to_finish(self) -> Iterator[Job]:
        """The Jobs to mark done: of recorded items, and attempts that a later one stands for."""
        for attempts in self._stages["finishing"].values():
            yield from (job for job in attempts.jobs.values() if job.phase != "active" and not job.done)
        for name, attempts in self._superseded.items():
            job = attempts.jobs[name]
            if attempts.latest.content == "absent" and not attempts.latest.held:
                continue  # this one still has the item's data
            if attempts.stage != "finishing" and not (attempts.judged and attempts.judged.job == job.job):
                yield job


def _newer(known: Job, told: Job) -> Job:
    """What is told may be older than what is known: a Job that is over never runs again, and an item's data
    that was there stays.
    """
    is_older = known.phase != "active" and told.phase == "active"
    newer, other = (known, told) if is_older else (told, known)
    if newer.content == "absent" and other.content != "absent":
        return replace(newer, content=other.content, data=other.data)
    return newer
