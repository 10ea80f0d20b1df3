"""When the record may forget an item (promise 7): no source that could bring it back has listed it for long.

What is counted on is kept for the next manager (absences.py).
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from wqc.runtime.graph.graph import Graph, Port, failed_port
from wqc.runtime.logs import log

SHRUNK = 0.2
"""The share of a listing that may vanish at once without looking like a mishap."""

Listing = Mapping[str, str]
"""Versions by name."""


@dataclass(slots=True)
class Absent:
    """Recorded items that no listing has shown since then."""

    since: float
    keys: set[bytes]
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
                new = {name: version for name, version in now.items() if before.get(name) != version}
                back = absent.keys & self._listed(queue, {port: new})
                if back:
                    absent.keys -= back
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

    def due(
        self,
        queue: str,
        recorded: Collection[bytes],
        listings: Mapping[Port, Listing | None],
        now: float,
        remembered: Mapping[Port, float] | None = None,
    ) -> set[bytes]:
        """What to forget. `listings`: the last of each source, None while it can't be listed.
        `remembered`: by source, where it knows, seconds within which what is absent may come back.
        """
        known = remembered or {}
        sources = {port: listings[port] for port, reached in self._prefixes.items() if queue in reached}
        complete = {
            port: listing
            for port, listing in sources.items()
            if listing or (listing is not None and port in self._draining)
        }
        if len(complete) < len(sources):
            return set()
        period = max((known.get(port, self._period) for port in sources), default=self._period)
        absent = self.absent.get(queue)
        if absent and now - absent.since < period:
            return set()
        listed = {str(port): len(listing) for port, listing in complete.items()}
        self.absent[queue] = Absent(now, set(recorded) - self._listed(queue, complete), listed)
        self.changed[queue] = None
        return absent.keys if absent else set()

    def _listed(self, queue: str, listings: Mapping[Port, Listing]) -> set[bytes]:
        key = self._keys[queue]
        return {
            key(prefix + name, version)
            for port, listing in listings.items()
            for prefix in self._prefixes[port][queue]
            for name, version in listing.items()
        }


def _reached(graph: Graph, port: Port) -> dict[str, set[str]]:
    """As Graph.prefixes, for all that a source lists."""
    reached = graph.prefixes(port)
    for queue, prefixes in graph.prefixes(failed_port(port)).items():
        reached[queue] = reached.get(queue, set()) | prefixes
    return reached | {str(port): {""}}
