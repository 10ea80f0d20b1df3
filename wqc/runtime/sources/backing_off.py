"""A source that isn't asked again and again while it fails."""

import time

from wqc.runtime.sources.source import BoundedSource, Listing, SourceError


class BackingOff:
    """After a listing that failed it says so for `first` seconds without asking, then for twice as long, up
    to `limit`.
    """

    def __init__(self, source: BoundedSource, first: float, limit: float) -> None:
        self._source = source
        self._first = first
        self._limit = limit
        self._pause = first
        self._until = 0.0
        self._reason = ""

    async def list(self) -> Listing:
        self._check()
        try:
            listing = await self._source.list()
        except SourceError as error:
            self._reason = str(error)
            self._until = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, self._limit)
            raise
        self._reason = ""
        self._pause = self._first
        return listing

    def want(self, count: int) -> None:
        self._source.want(count)

    async def get(self, name: str) -> str:
        self._check()
        return await self._source.get(name)

    async def done(self, name: str) -> None:
        self._check()
        await self._source.done(name)

    async def close(self) -> None:
        await self._source.close()

    def _check(self) -> None:
        if self._reason and time.monotonic() < self._until:
            raise SourceError(self._reason)
