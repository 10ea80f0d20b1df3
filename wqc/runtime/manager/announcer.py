"""Tells those who look at the cluster what is blocked or has failed items, and when it goes on."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wqc.runtime.manager.status import Failure, Status
from wqc.runtime.periods import Periods
from wqc.runtime.queue.pause import Pause
from wqc.runtime.stores.store import Announcement, JobStore, Refused


@dataclass(frozen=True, slots=True)
class _Told:
    problem: str = ""
    at: float = float("-inf")
    """When it was last said that it is ill."""


@dataclass(frozen=True, slots=True)
class _State:
    """Something about a node that is well or isn't: then `problem` says why."""

    node: str
    problem: str
    ill: str
    well: str
    relief: str

    def announcement(self) -> Announcement:
        if self.problem:
            return Announcement(self.ill, self.problem, is_warning=True)
        return Announcement(self.well, self.relief, is_warning=False)


async def announce(store: JobStore, status: Callable[[], Status], periods: Periods) -> None:
    """Looks every `periods.report` seconds; `periods.announce` lie between two words on what stays ill, or is
    again.
    """
    told: dict[tuple[str, str], _Told] = {}
    pause = Pause("", periods, "can't make an Event")
    while True:
        for state in _states(status()):
            last = told.get((state.node, state.ill), _Told())
            if state.problem == last.problem or not pause.over:
                continue
            if state.problem and time.monotonic() < last.at + periods.announce:
                continue
            try:
                await store.announce(state.node, state.announcement())
                told[state.node, state.ill] = _Told(
                    state.problem, time.monotonic() if state.problem else last.at
                )
                pause.succeeded()
            except Refused as refused:
                pause.refused(refused)
        await asyncio.sleep(periods.report)


def _states(now: Status) -> Iterator[_State]:
    for queue in now.queues:
        if queue.knows or queue.blocked:
            yield _blocked(queue.queue, queue.blocked)
        if queue.knows:
            yield _failed(queue.queue, queue.failures, queue.held)
    for source in now.sources:
        problem = source.problem and f"source {source.source}: {source.problem}"
        relief = f"source {source.source} is well again"
        yield _State(source.source, problem, "SourceFails", "SourceIsWell", relief)
    for node in now.nodes:
        yield _blocked(node.node, node.blocked)
        yield _failed(node.node, node.failures, node.failed)
    for carrier in now.carriers:
        if carrier.knows or carrier.blocked:
            yield _blocked(carrier.carrier, carrier.blocked)


def _blocked(node: str, why: str) -> _State:
    return _State(node, why and f"{node} is blocked: {why}", "Blocked", "GoesOn", f"{node} goes on")


def _failed(node: str, failures: tuple[Failure, ...], count: int) -> _State:
    last = f"{node}: {failures[-1].item} failed: {failures[-1].reason}" if failures else ""
    problem = last + (f"; {count} items did" if count > 1 else "")
    return _State(node, problem, "ItemsFailed", "NoneFailed", f"{node}: no failed item is held any more")
