"""Which template each lane of a queue has: a new one comes to the lanes in order (design, section 4).

The next lane gets it after so many successes in the one before. The first lane in which an item fails with it
for good stops the rollout, and the others keep what they have, until there is another template. How far it
is stands in the workflow's state, as `rollout.QUEUE`, before a lane uses it.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from wqc.contract.settings import Rollout as Order
from wqc.runtime.logs import log
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import Refused

ROLLOUT = "rollout."


@dataclass(frozen=True, slots=True)
class Progress:
    """Templates are named by their digests."""

    target: str
    lanes: dict[str, str]
    proving: str = ""
    """The lane that got the target last; "" where none is left to get it."""
    stopped: str = ""
    """The lane that failed with the target."""
    since: float = 0.0
    """When the queue's last Job before the rollout was created, by the store's clock: an older one of the
    same template proves nothing.
    """

    def left(self, order: Sequence[str]) -> list[str]:
        """The lanes without the target."""
        return [lane for lane in order if self.lanes.get(lane) != self.target]

    def passed_on(self, order: Sequence[str]) -> "Progress":
        """The next lane has the target too."""
        following, *left = self.left(order)
        lanes = self.lanes | {following: self.target}
        return replace(self, lanes=lanes, proving=following if left else "")


class Rollout:
    """`order` is None for a queue whose lanes all get a new template at once."""

    def __init__(
        self, queue: str, lanes: Sequence[str], order: Order | None, current: str, store: StateStore
    ) -> None:
        self._queue = queue
        self._order = order
        self._store = store
        self._progress = Progress(current, dict.fromkeys(lanes, current))
        self._proven: set[str] = set()
        """Jobs that succeeded in the lane that has to prove the target."""
        self._next: Progress | None = None

    def template(self, lane: str) -> str:
        return self._progress.lanes.get(lane, self._progress.target)

    @property
    def used(self) -> set[str]:
        return set(self._progress.lanes.values())

    async def load(self, newest: float) -> None:
        """Go on where the last manager was. `newest`: when the last Job that there is was created.

        Raises Refused.
        """
        if not self._order:
            return
        saved = (await self._store.read()).entries.get(ROLLOUT + self._queue)
        progress = _begun(saved, self._progress, self._order.order, newest)
        if saved != _text(progress):
            try:
                await self._store.write({ROLLOUT + self._queue: _text(progress)})
            except Conflict as conflict:
                raise Refused(str(conflict)) from None
        self._progress = progress

    def succeeded(self, lane: str, job: Job) -> None:
        """An attempt did; the same Job may be told again."""
        if self._order and self._proves(lane, job):
            self._proven.add(job.job)
            if len(self._proven) >= self._order.prove:
                self._next = self._progress.passed_on(self._order.order)

    def failed(self, lane: str, job: Job) -> None:
        """An item did for good, with this attempt."""
        if self._proves(lane, job):
            self._next = replace(self._progress, stopped=lane)

    async def save(self) -> None:
        """Raises Refused; then the lanes keep what they have."""
        if self._next:
            try:
                await self._store.write({ROLLOUT + self._queue: _text(self._next)})
            except Conflict:  # what another manager wrote is what holds
                self._next = None
                return await self.load(self._progress.since)
            self._progress, self._next = self._next, None
            self._proven.clear()
            if self._progress.stopped:
                log(
                    logging.WARNING,
                    "the new template failed; the other lanes keep theirs",
                    queue=self._queue,
                    lane=self._progress.stopped,
                )

    def _proves(self, lane: str, job: Job) -> bool:
        progress = self._progress
        return bool(
            self._order
            and lane == progress.proving
            and job.template == progress.target
            and job.created > progress.since
            and not (progress.stopped or (self._next and self._next.stopped))
        )


def _begun(saved: str | None, first: Progress, order: Sequence[str], newest: float) -> Progress:
    """What was saved, brought to the lanes and the target of `first`."""
    try:
        before = msgspec.json.decode(saved, type=Progress) if saved else first
    except msgspec.MsgspecError:
        before = first
    if before.target != first.target:
        before = Progress(first.target, before.lanes, since=newest)
    # a new lane gets what others have proven
    proven = [before.lanes[lane] for lane in before.left(order) if lane in before.lanes]
    common = proven[-1] if proven else first.target
    progress = replace(before, lanes={lane: before.lanes.get(lane, common) for lane in first.lanes})
    if not progress.left(order):
        return replace(progress, proving="")
    waits = progress.stopped or progress.proving in progress.lanes
    return progress if waits else progress.passed_on(order)


def _text(progress: Progress) -> str:
    return msgspec.json.encode(progress).decode()
