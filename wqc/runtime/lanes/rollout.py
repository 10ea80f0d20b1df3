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
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import Refused

ENTRY = "rollout."


@dataclass(frozen=True, slots=True)
class Progress:
    """Templates are named by their digests."""

    target: str
    lanes: dict[str, str]
    stopped: str = ""
    """The lane that failed with the target."""

    def frontier(self, order: Sequence[str]) -> str | None:
        """The lane that has to prove the target; None where there is nothing to prove."""
        reached = [lane for lane in order if self.lanes.get(lane) == self.target]
        return None if self.stopped or len(reached) == len(order) or not reached else reached[-1]


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

    async def load(self) -> None:
        """Go on where the last manager was. Raises Refused."""
        if not self._order:
            return
        saved = (await self._store.read()).entries.get(ENTRY + self._queue)
        progress = _begun(saved, self._progress, self._order.order)
        if saved != _text(progress):
            try:
                await self._store.write({ENTRY + self._queue: _text(progress)})
            except Conflict as conflict:
                raise Refused(str(conflict)) from None
        self._progress = progress

    def succeeded(self, lane: str, template: str, job: str) -> None:
        """An attempt did; the same Job may be told again."""
        if self._order and self._proves(lane, template):
            self._proven.add(job)
            if len(self._proven) >= self._order.prove:
                order = self._order.order
                following = order[order.index(lane) + 1]
                lanes = self._progress.lanes | {following: self._progress.target}
                self._next = replace(self._progress, lanes=lanes)

    def failed(self, lane: str, template: str) -> None:
        """An item did for good."""
        if self._proves(lane, template):
            self._next = replace(self._progress, stopped=lane)

    async def save(self) -> None:
        """Raises Refused; then the lanes keep what they have."""
        if self._next:
            try:
                await self._store.write({ENTRY + self._queue: _text(self._next)})
            except Conflict:  # what another manager wrote is what holds
                self._next = None
                return await self.load()
            self._progress, self._next = self._next, None
            self._proven.clear()
            if self._progress.stopped:
                log(
                    logging.WARNING,
                    "the new template failed; the other lanes keep theirs",
                    queue=self._queue,
                    lane=self._progress.stopped,
                )

    def _proves(self, lane: str, template: str) -> bool:
        progress = self._progress
        return bool(
            self._order
            and template == progress.target
            and not (self._next and self._next.stopped)
            and progress.frontier(self._order.order) == lane
        )


def _begun(saved: str | None, first: Progress, order: Sequence[str]) -> Progress:
    """What was saved, brought to the lanes and the target of `first`."""
    try:
        before = msgspec.json.decode(saved, type=Progress) if saved else first
    except msgspec.MsgspecError:
        before = first
    lanes = {lane: before.lanes.get(lane, first.target) for lane in first.lanes}
    if before.target == first.target:
        return replace(before, lanes=lanes)
    return Progress(first.target, lanes | {order[0]: first.target})


def _text(progress: Progress) -> str:
    return msgspec.json.encode(progress).decode()
