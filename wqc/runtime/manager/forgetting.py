"""When the record may forget an item (promise 7): no source that could bring it back has listed it for long.

Kept in memory alone: a manager that starts anew begins the period anew, which forgets later, never sooner.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from wqc.runtime.graph.graph import Graph, Port, failed_port
from wqc.runtime.logs import log

SHRUNK = 0.2
"""The share of a listing that may vanish at once without looking like a mishap."""

Listing = Mapping[str, str]
"""Versions by name."""


@dataclass(slots=True)
class _Absent:
    """Recorded items that no listing has shown since then."""

    since: float
    keys: set[bytes]


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
        self._absent: dict[str, _Absent] = {}
        self._draining: set[Port] = set()
        """Sources whose items go once they are done: that fewer are listed, or none, is no mishap."""

    def compared(self, port: Port, before: Listing, now: Listing, drains: bool = False) -> None:
        """A source that listed `before` lists `now`: all that it has. `drains`: what is done goes from it."""
        if drains:
            self._draining.add(port)
        elif len(now) < len(before) * (1 - SHRUNK):
            facts = {"source": str(port), "before": len(before), "now": len(now)}
            log(logging.WARNING, "far fewer items are listed than before: nothing is forgotten now", **facts)
            for queue in self._prefixes[port]:
                self._absent.pop(queue, None)
        for queue in self._prefixes[port]:
            absent = self._absent.get(queue)
            if absent and absent.keys:
                new = {name: version for name, version in now.items() if before.get(name) != version}
                absent.keys -= self._listed(queue, {port: new})

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
        absent = self._absent.get(queue)
        if absent and now - absent.since < period:
            return set()
        self._absent[queue] = _Absent(now, set(recorded) - self._listed(queue, complete))
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
