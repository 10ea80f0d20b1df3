"""When the record may forget an item (promise 7): no source that could bring it back has listed it for long.

What is counted on is kept for the next manager (absences.py).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from wqc.runtime.graph.graph import Graph, Port, failed_port
from wqc.runtime.logs import log
from wqc.runtime.queue.hashes import Hashes
from wqc.runtime.sources.versions import fresh

SHRUNK = 0.2
"""The share of a listing that may vanish at once without looking like a mishap."""

AT_ONCE = 5000
"""Items that are looked at in one go."""

Listing = Mapping[str, str]
"""Versions by name."""


@dataclass(slots=True)
class Absent:
    """Recorded items that no listing has shown since then."""

    since: float
    keys: Hashes
    listed: dict[str, int] = field(default_factory=dict)
    """How many items each source listed then."""


class Forgetting:
    """`keys`: by queue, what an item is recorded as there. Times are in seconds on any one clock."""

    def __init__(
        self,
        graph: Graph,
        ports: Iterable[Port],
        keys: Mapping[str, Callable[[str, str], bytes]],
        period: float,
    ) -> None:
        self._keys = keys
        self._period = period
        self._prefixes = {
            port: {station: names for station, names in _reached(graph, port).items() if station in keys}
            for port in ports
        }
        self.absent: dict[str, Absent] = {}
        self.changed: dict[str, None] = {}
        """Queues of which something else has to be kept than before."""
        self.dropped = asyncio.Event()
        """What was kept mustn't be believed any more."""
        self._draining: set[Port] = set()
        """Sources whose items go once they are done: that fewer are listed, or none, is no mishap."""

    def compared(self, port: Port, before: Listing, now: Listing, drains: bool = False) -> None:
        """A source that listed `before` lists `now`: all that it has. `drains`: what is done goes from it."""
        if drains:
            self._draining.add(port)
        else:
            self._beware_of_mishaps(port, len(before), len(now))
        for queue in self._prefixes[port]:
            absent = self.absent.get(queue)
            if absent and absent.keys:
                count = len(absent.keys)
                absent.keys.difference_update(self._recorded_as(queue, port, fresh(before, now)))
                if len(absent.keys) < count:
                    self.changed[queue] = None

    def _beware_of_mishaps(self, port: Port, before: int, now: int) -> None:
        """A manager's first listing of a source is compared with what the one before it knew."""
        known = [
            absent.listed.get(str(port), 0)
            for each in self._prefixes[port]
            if (absent := self.absent.get(each))
        ]
        was = before or max(known, default=0)
        if now >= was * (1 - SHRUNK):
            return
        facts = {"source": str(port), "before": was, "now": now}
        log(logging.WARNING, "far fewer items are listed than before: nothing is forgotten now", **facts)
        for queue in self._prefixes[port]:
            if self.absent.pop(queue, None):
                self.changed[queue] = None
                self.dropped.set()

    async def due(
        self,
        queue: str,
        recorded: Hashes,
        listings: Mapping[Port, Listing | None],
        now: float,
        remembered: Mapping[Port, float] | None = None,
    ) -> Hashes:
        """What to forget. `listings`: the last of each source, None while it can't be listed.
        `remembered`: by source, where it knows, seconds within which what is absent may come back.
        With long listings it takes seconds, in which others go on.
        """
        known = remembered or {}
        sources = {port: listings[port] for port, reached in self._prefixes.items() if queue in reached}
        complete = {
            port: listing
            for port, listing in sources.items()
            if listing or (listing is not None and port in self._draining)
        }
        if len(complete) < len(sources):
            return Hashes()
        period = max((known.get(port, self._period) for port in sources), default=self._period)
        before = self.absent.get(queue)
        if before and now - before.since < period:
            return Hashes()
        listed = {str(port): len(listing) for port, listing in complete.items()}
        # what comes back meanwhile is taken out by `compared`
        absent = self.absent[queue] = Absent(now, recorded.copy(), listed)
        for port, listing in complete.items():
            pairs = iter(listing.items())
            while some := tuple(islice(pairs, AT_ONCE)):
                absent.keys.difference_update(self._recorded_as(queue, port, some))
                await asyncio.sleep(0)
        self.changed[queue] = None
        unharmed = self.absent.get(queue) is absent
        return before.keys if before and unharmed else Hashes()

    def _recorded_as(self, queue: str, port: Port, pairs: Iterable[tuple[str, str]]) -> Iterator[bytes]:
        """`pairs`: names and versions of what the source lists."""
        key = self._keys[queue]
        prefixes = self._prefixes[port][queue]
        return (key(prefix + name, version) for name, version in pairs for prefix in prefixes)


def _reached(graph: Graph, port: Port) -> dict[str, set[str]]:
    """As Graph.prefixes, for all that a source lists."""
    reached = graph.prefixes(port)
    for queue, prefixes in graph.prefixes(failed_port(port)).items():
        reached[queue] = reached.get(queue, set()) | prefixes
    return reached | {str(port): {""}}
