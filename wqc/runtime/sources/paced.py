"""A source that isn't listed oftener than is good for what is behind it."""

import time

from wqc.runtime.sources.source import Listing, Source

QUICK = 0.5
"""Seconds; listings that take less are no burden."""


class PacedSource:
    """At most one listing in `every` seconds, and after a long one a rest of `rest` times as long as it took.

    A hundred pages of a bucket cost money each time, a large folder its file server's time. Until the next
    one is due, the last listing stands.
    """

    def __init__(self, source: Source, every: float, rest: float) -> None:
        self._source = source
        self._every = every
        self._rest = rest
        self._last: Listing | None = None
        self._due = 0.0

    async def list(self) -> Listing:
        started = time.monotonic()
        if self._last is not None and started < self._due:
            return self._last
        # a failure is no listing: the next one may come at once
        self._last = None
        self._last = await self._source.list()
        took = time.monotonic() - started
        pause = self._rest * took if took >= QUICK else 0.0
        self._due = max(started + self._every, time.monotonic() + pause)
        return self._last

    async def get(self, name: str) -> str:
        return await self._source.get(name)

    async def close(self) -> None:
        await self._source.close()
