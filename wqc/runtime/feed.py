"""One source, listed again and again: new items go into the graph, those that vanish are withdrawn."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from wqc.patterns.item import Item
from wqc.runtime.graph import Port, Stuck
from wqc.runtime.logs import log
from wqc.runtime.origin import Origin
from wqc.runtime.periods import Periods
from wqc.runtime.sources.source import NoSuchItem, Source, SourceError
from wqc.runtime.text import decode

AT_ONCE = 16

Deliver = Callable[[Port, Item, Origin], None]


class Feed:
    def __init__(
        self,
        port: Port,
        source: Source,
        needs_data: bool,
        deliver: Deliver,
        withdraw: Callable[[Origin], None],
        opened: Callable[[], None],
        periods: Periods,
    ) -> None:
        self.port = port
        self._source = source
        self._needs_data = needs_data
        self._deliver = deliver
        self._withdraw = withdraw
        self._opened = opened
        self._periods = periods
        self._listed: dict[str, str] | None = None
        self._origins: dict[str, Origin] = {}
        """Of the items that not every reader has yet."""
        self._unrouted: dict[str, str] = {}
        """Items whose data must be read before it is known where they go."""
        self._settling = False
        self._is_first = True
        """The items of the first listing are being sent."""
        self.problem = ""

    @property
    def stuck(self) -> list[Stuck]:
        """What failed in a pattern node; it stays in the source."""
        return [each for origin in self._origins.values() for each in origin.stuck]

    @property
    def settled(self) -> bool:
        """The last listing was good; every item of it is with its readers, but for those that are stuck."""
        return (
            self._listed is not None
            and not (self.problem or self._settling or self._unrouted)
            and all(origin.stuck and not origin.left for origin in self._origins.values())
        )

    async def run(self) -> None:
        while True:
            await self.round()
            pause = self._periods.listing
            if self.problem:
                pause = min(self._periods.retry_listing, pause)
            await asyncio.sleep(pause)

    async def round(self) -> None:
        try:
            listing = await self._source.list()
        except SourceError as error:
            self._report(str(error))
            return
        self._report("")
        self._settling = listing.settling
        if listing.versions != self._listed:
            self._compare(listing.versions)
        await self._route_unrouted()
        self._is_first = self._is_first and bool(self.problem)

    def _compare(self, versions: dict[str, str]) -> None:
        before = self._listed or {}
        for name in before.keys() - versions.keys():
            self._unrouted.pop(name, None)
            self._take_back(name)
        self._listed = versions
        for name, version in versions.items():
            if before.get(name) == version:
                continue
            self._take_back(name)
            if self._needs_data:
                self._unrouted[name] = version
            else:
                self._send(Item(name, version))

    def _take_back(self, name: str) -> None:
        origin = self._origins.pop(name, None)
        if origin:
            self._withdraw(origin)

    async def _route_unrouted(self) -> None:
        names = list(self._unrouted)
        for start in range(0, len(names), AT_ONCE):
            await asyncio.gather(*(self._route(name) for name in names[start : start + AT_ONCE]))
            if self.problem:
                return

    async def _route(self, name: str) -> None:
        version = self._unrouted[name]
        try:
            data = decode(await self._source.get(name))
        except NoSuchItem:
            return  # gone since it was listed; if the next listing has it still, it is asked for again
        except (SourceError, ValueError) as error:
            self._report(f"{name}: {error}")
            return
        if self._unrouted.get(name) == version:
            del self._unrouted[name]
            self._send(Item(name, version, data))

    def _send(self, item: Item) -> None:
        origin = Origin(
            fetch=partial(self._source.get, item.name),
            is_open=lambda: not self.problem,
            complete=partial(self._complete, item.name),
            is_backlog=self._is_first,
        )
        self._origins[item.name] = origin
        self._deliver(self.port, item, origin)

    def _complete(self, name: str) -> None:
        self._origins.pop(name, None)

    def _report(self, problem: str) -> None:
        if problem and problem != self.problem:
            log(logging.WARNING, "source fails", source=str(self.port), reason=problem)
        elif self.problem and not problem:
            log(logging.INFO, "source is well again", source=str(self.port))
        well_again = bool(self.problem) and not problem
        self.problem = problem
        if well_again:
            self._opened()
