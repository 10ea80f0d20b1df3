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
        self._early: dict[str, dict[Port, Mapping[str, str]]] = {}
        """By queue whose record isn't read yet, the first listing of each of those sources."""
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
                self._early[name] = {}

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
            early = self._early[name]
            while early:
                port, versions = next(iter(early.items()))
                await self._look_at(name, port, versions, now=True)
                del early[port]  # not before: it may be listed again meanwhile
            del self._early[name]

    async def run(self) -> None:
        """Write down what the records go by; never returns."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await patiently("", partial(self._write, self._known.copy()), self._periods)

    async def listed(self, port: Port, versions: Mapping[str, str]) -> None:
        """Before any of them is sent. None at all may be an unmounted share. What is sent to a queue whose
        record can't be read waits there, and keeps no other waiting.
        """
        for name in [name for name, ports in self._unlisted.items() if versions and port in ports]:
            if name in self._early:
                self._early[name].setdefault(port, versions)
            else:
                await self._look_at(name, port, versions, now=False)

    async def _look_at(self, name: str, port: Port, versions: Mapping[str, str], now: bool) -> None:
        """`now`: as for record_again."""
        queue = self._queues[name]
        prefixes = self._prefixes[port][name]
        pairs = iter(versions.items())
        while some := tuple(islice(pairs, AT_ONCE)):
            items = [(prefix + each, version) for each, version in some for prefix in prefixes]
            keys = self._keys(name, items)
            if now:
                await patiently(name, partial(queue.record_again, keys, now=True), self._periods)
                queue.forget([known for known, key in keys.items() if known != key])
            else:
                await queue.record_again(keys, now=False)
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
