"""What no source has listed for how long, kept for the next manager (promise 17).

absent.STATION in the workflow's state says since when, and names the segments that have the items' hashes, if
there are any. Both change seldom: when a period begins, and when an item comes back after all.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import msgspec

from wqc.contract.names import object_name
from wqc.runtime.manager.forgetting import Absent
from wqc.runtime.manager.requests import ABSENT
from wqc.runtime.queue.hashes import Hashes
from wqc.runtime.queue.ledger import AT_MOST, DamagedLedger, read_segment, write_segment
from wqc.runtime.stores.state import StateStore
from wqc.runtime.stores.store import JobStore
from wqc.runtime.text import encode


@dataclass(frozen=True, slots=True)
class _Kept:
    """`since`: seconds since the epoch. `listed`: how many items each source listed then."""

    since: float
    listed: dict[str, int]
    segments: tuple[str, ...] = ()


class Absences:
    def __init__(self, workflow: str, store: JobStore, state: StateStore) -> None:
        self._workflow = workflow
        self._store = store
        self._state = state
        self._kept: set[str] = set()
        """Stations of which the state says something."""
        self._in_segments: set[str] = set()

    async def load(self, entries: Mapping[str, str], station: str) -> Absent | None:
        """None if nothing that can be read was kept: then the period begins anew. Raises Refused."""
        text = entries.get(ABSENT + station)
        if text is None:
            return None
        self._kept.add(station)
        try:
            kept = msgspec.json.decode(text, type=_Kept)
            keys = Hashes()
            if kept.segments:
                self._in_segments.add(station)
                found = {each.name: each for each in await self._store.segments(station, "absent")}
                for name in kept.segments:
                    keys.update(read_segment(found[name])[1])
        except (msgspec.MsgspecError, KeyError, DamagedLedger):
            return None
        age = max(0.0, time.time() - kept.since)
        return Absent(time.monotonic() - age, keys, kept.listed)

    async def keep(self, station: str, absent: Absent | None) -> None:
        """Raises Refused, Conflict."""
        key = ABSENT + station
        if absent is None:
            if station in self._kept:
                await self._state.write({key: None})
                self._kept.discard(station)
            return
        prefix = object_name(self._workflow, station, "absent")
        left = iter(absent.keys.copy())  # some may come back meanwhile
        names: tuple[str, ...] = ()
        while piece := list(islice(left, AT_MOST)):
            segment = write_segment(prefix, piece, level=0)
            await self._store.add_segment(station, segment, "absent")
            names += (segment.name,)
        since = time.time() - (time.monotonic() - absent.since)
        await self._state.write({key: encode(msgspec.to_builtins(_Kept(since, absent.listed, names)))})
        self._kept.add(station)
        if names or station in self._in_segments:
            self._in_segments.add(station)
            for old in await self._store.segments(station, "absent"):
                if old.name not in names:
                    await self._store.remove_segment(station, old.name, "absent")
