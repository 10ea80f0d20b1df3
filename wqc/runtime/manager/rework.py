"""A queue's `rework` says what its items are recorded as: with their version, or without. When it changes,
what is recorded is recorded anew, so that nothing is done twice.

Once, when its sources are listed: only they know the versions. `rework.QUEUE` in the workflow's state says
what the record goes by; it is written last, and a manager that crashes before leaves all to the next one.
"""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice

from wqc.runtime.graph.graph import Graph, Port, failed_port
from wqc.runtime.manager.forgetting import AT_ONCE
from wqc.runtime.manager.requests import REWORK
from wqc.runtime.periods import Periods
from wqc.runtime.queue.pause import patiently
from wqc.runtime.queue.queue import Queue, recorded_as
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import Refused


class Rework:
    def __init__(
        self,
        graph: Graph,
        ports: Iterable[Port],
        queues: Mapping[str, Queue],
        state: StateStore,
        periods: Periods,
    ) -> None:
        self._queues = queues
        self._state = state
        self._periods = periods
        self._prefixes = {port: _prefixes(graph, port) for port in ports}
        self._before: dict[str, str] = {}
        """The `rework` that a queue's record still goes by."""
        self._unlisted: dict[str, set[Port]] = {}
        """Of such a queue, the sources whose items are still to be looked at."""
        self._begun = {name: asyncio.Event() for name in queues}
        """What there are Jobs for is recorded anew."""
        self._known: dict[str, str] = {}
        """What is to be written into the state."""
        self._wake = asyncio.Event()

    def load(self, entries: Mapping[str, str]) -> None:
        """What the records go by."""
        for name, queue in self._queues.items():
            before = entries.get(REWORK + name)
            if before is None:
                self._settle(name)
            elif before != queue.rework:
                self._before[name] = before
                self._unlisted[name] = {port for port, reached in self._prefixes.items() if name in reached}

    async def begin(self, name: str) -> None:
        """Once a queue's record is read, and before anything is judged: the Jobs that there are belong to
        items that may be recorded.
        """
        if name in self._before:
            queue = self._queues[name]
            keys: dict[bytes, bytes] = {}
            for items in queue.with_jobs:
                known = self._keys(name, items)
                if len(known) == len(items):  # else one of them is under way
                    keys |= known
            await patiently(name, partial(queue.record_again, keys, now=True), self._periods)
            self._begun[name].set()

    async def run(self) -> None:
        """Write down what the records go by; never returns."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await patiently("", partial(self._write, self._known.copy()), self._periods)

    async def listed(self, port: Port, versions: Mapping[str, str]) -> None:
        """Before any of them is sent. None at all may be an unmounted share."""
        for name in [name for name, ports in self._unlisted.items() if versions and port in ports]:
            await self._begun[name].wait()
            prefixes = self._prefixes[port][name]
            pairs = iter(versions.items())
            while some := tuple(islice(pairs, AT_ONCE)):
                items = [(prefix + each, version) for each, version in some for prefix in prefixes]
                await self._queues[name].record_again(self._keys(name, items), now=False)
                await asyncio.sleep(0)
            self._unlisted[name].discard(port)
            if not self._unlisted[name]:
                del self._unlisted[name]
                self._settle(name)

    def _settle(self, name: str) -> None:
        self._known[REWORK + name] = self._queues[name].rework
        self._wake.set()

    async def _write(self, entries: Mapping[str, str]) -> None:
        """Raises Refused."""
        try:
            await self._state.write(entries)
        except Conflict as conflict:
            raise Refused(str(conflict)) from None

    def _keys(self, name: str, items: Iterable[tuple[str, str]]) -> dict[bytes, bytes]:
        """What the recorded ones of these are recorded as from now on, by what they are recorded as."""
        queue, before = self._queues[name], self._before[name]
        keys = {recorded_as(before, *item): queue.key(*item) for item in items}
        return {key: now for key, now in keys.items() if key in queue.recorded}


def _prefixes(graph: Graph, port: Port) -> dict[str, set[str]]:
    """By queue, what the names of its items begin with."""
    found: dict[str, set[str]] = {}
    for each in (port, failed_port(port)):
        for queue, prefixes in graph.prefixes(each).items():
            found.setdefault(queue, set()).update(prefixes)
    return found
