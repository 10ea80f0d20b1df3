"""One source, listed again and again: new items go into the graph, those that vanish are withdrawn."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

from wqc.contract.limits import NAME_LENGTH
from wqc.patterns.item import Item
from wqc.runtime.graph.graph import Graph, Port, failed_port
from wqc.runtime.graph.origin import Origin
from wqc.runtime.logs import log
from wqc.runtime.manager.status import SourceStatus, in_words, troubled
from wqc.runtime.manager.unsent import Unsent
from wqc.runtime.periods import Periods
from wqc.runtime.queue.troubles import Troubles
from wqc.runtime.sources.source import (
    LEAST_REMEMBERED,
    BoundedSource,
    HoldingSource,
    Source,
    SourceError,
)
from wqc.runtime.sources.versions import Versions, fresh, gone
from wqc.runtime.text import decode
from wqc.runtime.waiting import until_set

AT_ONCE = 16
MOST_IDLE = 400
"""Messages that wait for a person or for the record, and take nobody's place; with more of them, fewer others
are held.
"""
MOST_OPEN = 30_000
"""Items of a source that not everyone has who is to get them, as where one of two queues is paused: beyond
that the others have to wait too, since what is open takes 1.4 kB, and the manager's memory has an end.
"""
FULL = f"{MOST_OPEN:,} of its items wait, and the others behind them, also for queues that have room"
SOON = 0.2
"""Seconds in which others are likely to take more, once they have begun to."""

Deliver = Callable[[Port, Item, Origin, str], None]
"""(the source's port, the item, who has it, why it failed in the source)."""
Compared = Callable[[Mapping[str, str], Mapping[str, str], bool], None]
"""(what the source listed before, what it lists now, whether what is done goes from it)."""


class Feed:
    def __init__(
        self,
        port: Port,
        source: Source,
        graph: Graph,
        deliver: Deliver,
        withdraw: Callable[[Origin], None],
        opened: Callable[[], None],
        prepare: Callable[[Mapping[str, str]], Awaitable[None]],
        compared: Compared,
        unsent: Unsent,
        has_room: Callable[[], bool],
        wanted: int,
        held_up: Callable[[], str],
        until_done: bool,
        periods: Periods,
    ) -> None:
        """`prepare` is told all that it lists before anything comes of it. `wanted`: how many messages it
        need hold at a time. `held_up` says why nothing of it may be started though it is well.
        `until_done`: it is told that an item is done once that is recorded, not before.
        """
        self.port = port
        self._source = source
        self._failed_port = failed_port(port)
        self._reads_data = {each: graph.reads_data(each) for each in (port, self._failed_port)}
        self._deliver = deliver
        self._withdraw = withdraw
        self._opened = opened
        self._prepare = prepare
        self._compared = compared
        self._unsent = unsent
        self._has_room = has_room
        self._held_up = held_up
        self._until_done = until_done
        self._periods = periods
        self._listed: Mapping[str, str] | None = None
        self._origins: dict[str, Origin] = {}
        """Of the items that not every reader has yet."""
        self._unrouted: dict[str, str] = {}
        """Items whose data must be read before it is known where they go."""
        self._settling = False
        self._refill = asyncio.Event()
        """Others have some of what it holds, and it has more; or they have all."""
        self._wanted = wanted
        self._backlog = 0
        """Items of the first listing that weren't sent yet; they come before others."""
        self._finished: dict[str, None] = {}
        """Items that the source keeps until it is told that others have them."""
        self._told: dict[str, float] = {}
        """Items that it was told of and lists still: when, on the monotonic clock."""
        self._wants_done = False
        self.remember: float | None = None
        """Seconds within which what it doesn't list any more may come back, where it knows."""
        self._failure = ""
        """Why it can't be listed."""
        self._failures = 0
        """How often in a row it couldn't."""
        self._failed: Mapping[str, str] = {}
        """Items that go to its `.failed` stream, and why."""
        self._notice = ""
        """What it wants people to know."""
        self._left_out = 0
        """What it can't list at all."""
        self._unreadable = Troubles[str]("read", periods.listing, periods, source=str(port))
        """Items that are listed but can't be read."""
        self._untold = Troubles[str]("let go of", periods.listing, periods, source=str(port))
        """Finished items that it can't be told of."""

    def status(self) -> SourceStatus:
        found, untold = self._unreadable.all(), self._untold.all()
        full = FULL if self._unsent and self._is_full and self._has_room() else ""
        words = (in_words(found, "read"), in_words(untold, "let go of"), full, self._notice)
        told = "; ".join(filter(None, words))
        problem = self._failure or self._held_up() or told
        left_out = self._left_out + sum(name not in self._unrouted for name in self._unreadable)
        return SourceStatus(
            str(self.port),
            problem,
            up=not self._failure,
            left_out=left_out,
            troubled=troubled(found + untold),
            settling=self._settling and not self._wants_done,  # else it is more than it may hold
        )

    @property
    def listing(self) -> Mapping[str, str] | None:
        """The versions by name of all that it lists; None while that isn't known."""
        return None if self._failure else self._listed

    @property
    def settled(self) -> bool:
        """The last listing was good, and every item of it is with its readers, or waits for a person."""
        waits = self._failure or self._settling or self._unsent or self._unrouted or self._finished
        return (
            self._listed is not None and not waits and all(each.is_stuck for each in self._origins.values())
        )

    @property
    def rests(self) -> bool:
        """The last listing was good, and where its items go is known; they may wait there or for room."""
        waits = self._failure or (self._settling and not self._origins) or self._unrouted or self._finished
        return self._listed is not None and not waits and not (self._unsent and self._may_send())

    async def run(self) -> None:
        while True:
            await self.round()
            pause = self._periods.until_listing(self._failures)
            await until_set(self._refill, pause)
            if self._refill.is_set():
                await asyncio.sleep(min(SOON, pause))
                self._refill.clear()

    async def round(self) -> None:
        if isinstance(self._source, BoundedSource):
            idle = sum(each.is_stuck or each.is_dropped for each in self._origins.values())
            self._source.want(self._wanted + min(idle, MOST_IDLE))
        try:
            listing = await self._source.list()
        except SourceError as error:
            self._report(str(error))
            return
        await self._prepare(listing.versions)
        self._report("")
        self._settling = listing.settling
        self._wants_done = listing.wants_done
        least = min(LEAST_REMEMBERED, self._periods.forget)
        self.remember = None if listing.remember is None else max(listing.remember, least)
        self._failed = listing.failed
        self._left_out = listing.left_out
        self._note(listing.notice)
        before, self._listed = self._listed, listing.versions  # an equal one too: the source keeps that one
        if before is None:
            self._backlog = len(listing.versions)
        if listing.versions != before:
            self._compare(before or {}, listing.versions)
            if len(self._unsent) > 2 * len(listing.versions):
                # what changes while nothing is sent would pile up
                await self._unsent.keep(listing.versions)
        await self._send_on()
        await self._tell_finished()

    def _compare(self, before: Mapping[str, str], now: Mapping[str, str]) -> None:
        self._compared(before, now, self._wants_done)
        for name in gone(before, now):
            self._let_go(name)
        new = Versions(fresh(before, now)) if before else now
        if before:
            for name in new:
                # a message that follows one of the same name: it isn't done because that one is
                self._let_go(name)
        self._unsent.add(new)

    def _let_go(self, name: str) -> None:
        """It isn't listed as it was."""
        self._unrouted.pop(name, None)
        self._unreadable.settle(name)
        self._untold.settle(name)
        self._finished.pop(name, None)
        self._told.pop(name, None)
        origin = self._origins.pop(name, None)
        if origin:
            self._withdraw(origin)

    async def _send_on(self) -> None:
        """What is listed and wasn't sent yet, as long as there is room for it."""
        goes_on = True
        while goes_on:
            entries = self._unsent.take() if self._may_send() else []
            for name, version in entries:
                self._take_up(name, version)
            goes_on = await self._route_unrouted() and bool(entries)
            self._backlog = max(0, self._backlog - len(entries))
            await asyncio.sleep(0)

    def _may_send(self) -> bool:
        return not self._is_full and self._has_room()

    @property
    def _is_full(self) -> bool:
        return len(self._origins) + len(self._unrouted) >= MOST_OPEN

    def _take_up(self, name: str, version: str) -> None:
        is_sent = name in self._origins or name in self._unrouted
        if is_sent or self._listed is None or self._listed.get(name) != version:
            return  # it came, went and came again meanwhile, or has another version, or went
        if max(len(name), len(version)) > NAME_LENGTH:
            why = f"its name or version has more than {NAME_LENGTH} characters"
            self._unreadable.note(name, name, why, "name")
        elif self._reads_data[self._port_of(name)]:
            self._unrouted[name] = version
        else:
            self._send(Item(name, version))

    async def _route_unrouted(self) -> bool:
        """False if the source gives none of them."""
        names = _due(self._unrouted, self._unreadable)
        for start in range(0, len(names), AT_ONCE):
            batch = names[start : start + AT_ONCE]
            await asyncio.gather(*(self._route(name) for name in batch))
            if len(batch) == AT_ONCE and all(name in self._unreadable for name in batch):
                return False  # it is the source, rather than all of them; the next round begins behind them
        return True

    async def _route(self, name: str) -> None:
        version = self._unrouted[name]
        try:
            data = decode(await self._source.get(name))
        except (SourceError, ValueError) as error:
            # it is asked for again, if it is still listed then
            if name in self._unrouted:
                self._unreadable.note(name, name, str(error), "source")
            return
        self._unreadable.settle(name)
        if self._unrouted.get(name) == version:
            del self._unrouted[name]
            self._send(Item(name, version, data))

    async def _tell_finished(self) -> None:
        if isinstance(self._source, HoldingSource):
            long_ago = time.monotonic() - self._periods.audit
            for name in [name for name, at in self._told.items() if at <= long_ago]:
                self._finished[name] = None  # it may have died before it knew that for good
            names = _due(self._finished, self._untold)
            for start in range(0, len(names), AT_ONCE):
                batch = names[start : start + AT_ONCE]
                await asyncio.gather(*(self._tell(self._source, name) for name in batch))
                if len(batch) == AT_ONCE and all(name in self._untold for name in batch):
                    return  # as above

    async def _tell(self, source: HoldingSource, name: str) -> None:
        try:
            await source.done(name)
        except SourceError as error:
            self._untold.note(name, name, str(error), "source")
            return
        self._untold.settle(name)
        self._finished.pop(name, None)
        self._told[name] = time.monotonic()

    def _send(self, item: Item) -> None:
        origin = Origin(
            fetch=partial(self._source.get, item.name),
            is_open=lambda: not (self._failure or self._held_up()),
            complete=lambda: self._complete(item.name, origin),
            is_backlog=self._backlog > 0,
            until_done=self._until_done,
            until_told=self._wants_done,
        )
        self._origins[item.name] = origin
        self._deliver(self.port, item, origin, self._failed.get(item.name, ""))
        self._unsent.sent([offer.delivery for offer in origin.offers if not offer.taken])

    def _port_of(self, name: str) -> Port:
        return self._failed_port if name in self._failed else self.port

    def _complete(self, name: str, origin: Origin) -> None:
        if self._origins.get(name) is not origin:
            return  # that of an earlier version, of which something was begun before it was withdrawn
        del self._origins[name]
        if self._wants_done:
            self._finished[name] = None
            if self._settling or not self._origins:
                self._refill.set()

    def _note(self, notice: str) -> None:
        if notice and notice != self._notice:
            log(logging.WARNING, "source says", source=str(self.port), reason=notice)
        self._notice = notice

    def _report(self, failure: str) -> None:
        if failure and failure != self._failure:
            log(logging.WARNING, "source fails", source=str(self.port), reason=failure)
        well_again = bool(self._failure) and not failure
        self._failure = failure
        self._failures = self._failures + 1 if failure else 0
        if well_again:
            log(logging.INFO, "source is well again", source=str(self.port))
            self._unreadable.try_all()
            self._untold.try_all()
            self._opened()


def _due(names: Iterable[str], troubles: Troubles[str]) -> list[str]:
    """Those that may be tried now, the ones that were never in trouble first."""
    now = time.monotonic()
    due = {name: troubles.due(name) for name in names}
    return sorted((name for name, at in due.items() if at <= now), key=due.__getitem__)
