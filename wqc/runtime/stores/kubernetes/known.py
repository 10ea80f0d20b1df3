"""Which Jobs there are, and what became of their pods, as listings and watches tell it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from wqc.contract.names import LANE_LABEL, QUEUE_LABEL
from wqc.runtime.stores.kubernetes.objects import JobObject, Pod
from wqc.runtime.stores.kubernetes.reading import (
    JOB_NAME_LABEL,
    Ending,
    ending,
    finished_condition,
    is_held,
)
from wqc.runtime.stores.kubernetes.warnings import Stalled


class Known:
    def __init__(self) -> None:
        self._jobs: dict[str, JobObject | None] | None = None
        """Those that exist, once they were listed; None for one that is over: its data may be large."""
        self._made: dict[str, JobObject] | None = None
        """Jobs created while a listing is under way, which may not show them."""
        self._creating: set[str] = set()
        """Jobs whose pods may be heard of before the answer that there is a Job."""
        self._endings: dict[str, Ending] = {}
        """The newest pod of each Job, kept until the Job is gone."""

    def job(self, name: str) -> JobObject | None:
        """One that isn't over."""
        return (self._jobs or {}).get(name)

    def ending(self, name: str) -> Ending | None:
        return self._endings.get(name)

    @contextmanager
    def creating(self, name: str) -> Iterator[None]:
        self._creating.add(name)
        try:
            yield
        finally:
            self._creating.discard(name)

    def created(self, made: JobObject) -> None:
        name = made.metadata.name
        if self._jobs is not None:
            self._jobs[name] = made
        if self._made is not None:
            self._made[name] = made

    def begin_listing(self) -> None:
        self._made = {}

    def listed(self, found: Iterable[JobObject]) -> list[JobObject]:
        """All that there are."""
        jobs = (self._made or {}) | {each.metadata.name: each for each in found}
        self._made = None
        self._jobs = {name: _unless_over(each) for name, each in jobs.items()}
        kept = jobs.keys() | self._creating
        self._endings = {name: each for name, each in self._endings.items() if name in kept}
        return list(jobs.values())

    def made_since(self, found: Iterable[JobObject]) -> list[JobObject]:
        """What was made after this listing, and before who hears of it did."""
        listed = {each.metadata.name for each in found}
        return [each for name, each in (self._jobs or {}).items() if each and name not in listed]

    def changed(self, found: JobObject) -> None:
        if self._jobs is not None:
            self._jobs[found.metadata.name] = _unless_over(found)

    def gone(self, name: str) -> None:
        self._endings.pop(name, None)
        if self._jobs is not None:
            self._jobs.pop(name, None)

    def doubt(self) -> None:
        self._made = None

    def pod(self, pod: Pod) -> JobObject | None:
        """The Job that is not what it was with this."""
        name = (pod.metadata.labels or {}).get(JOB_NAME_LABEL)
        if not name or not (self._jobs is None or name in self._jobs or name in self._creating):
            return None
        known = self._endings.get(name)
        new = ending(pod)
        if known is not None and _is_older(new, known):
            return None
        self._endings[name] = new
        return self.job(name) if known != new else None

    def waiting(self) -> Iterator[Stalled]:
        """Jobs of which no container has started, though one should have."""
        for name, found in (self._jobs or {}).items():
            last = self._endings.get(name)
            if found and not (found.spec.suspend or (last and last.started)):
                labels = found.metadata.labels or {}
                lane = (labels.get(QUEUE_LABEL, ""), labels.get(LANE_LABEL, ""))
                yield Stalled(name, last.pod if last else "", lane)


def _is_older(new: Ending, known: Ending) -> bool:
    """A watch that broke off may tell again what was: a container that has ended doesn't run again."""
    has_ended = known.pod == new.pod and known.exit_code is not None and new.exit_code is None
    return has_ended or known.created > new.created


def _unless_over(found: JobObject) -> JobObject | None:
    return None if finished_condition(found) or is_held(found) else found
