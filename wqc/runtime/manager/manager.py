"""The manager: the workflow's stations over one store, fed by its sources, until told to stop."""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from wqc.contract.names import MANAGER
from wqc.runtime.carriers.carrier import Carrier
from wqc.runtime.graph.graph import Port, failed_port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.logs import log
from wqc.runtime.manager.absences import Absences
from wqc.runtime.manager.announcer import announce
from wqc.runtime.manager.desk import Desk
from wqc.runtime.manager.feed import Feed
from wqc.runtime.manager.forgetting import Forgetting
from wqc.runtime.manager.lineage import Lineage
from wqc.runtime.manager.reporter import report
from wqc.runtime.manager.requests import ARRIVALS
from wqc.runtime.manager.rework import Rework
from wqc.runtime.manager.routing import dropped_name
from wqc.runtime.manager.stations import Stations
from wqc.runtime.manager.status import CarrierStatus, NodeStatus, QueueStatus, SourceStatus, Status
from wqc.runtime.periods import Periods
from wqc.runtime.queue.pause import patiently
from wqc.runtime.queue.queue import Queue
from wqc.runtime.queue.station import Station
from wqc.runtime.sources.source import Source
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import JobStore, Listed, Refused, Unsure
from wqc.runtime.waiting import until_set

GUARD = 0.5
"""Seconds between two looks at whether all queues are read."""

S = TypeVar("S", QueueStatus, NodeStatus, CarrierStatus)


class Manager:
    def __init__(
        self,
        workflow: Workflow,
        store: JobStore,
        state: StateStore,
        sources: Mapping[Port, Source],
        periods: Periods,
        carriers: Mapping[str, Carrier] | None = None,
    ) -> None:
        self._workflow = workflow
        self._store = store
        self._state = state
        self._sources = sources
        self._periods = periods
        self._stations = Stations(workflow, store, state, sources, carriers or {}, periods)
        self._desk = Desk(state, self._stations.queues, self._stations.holders, periods)
        self._lineage = Lineage(state, periods.lost)
        self._feeds: list[Feed] = []
        self._listed = asyncio.Event()

    async def run(self) -> None:
        """Raises LookupError or ValueError for queues without usable settings."""
        stations = self._stations
        await stations.make()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch())
            tasks.create_task(self._desk.run())
            tasks.create_task(announce(self._store, self.status, self._periods))
            tasks.create_task(report(self._state, self.status, self._arrivals, self._periods))
            await self._listed.wait()
            await self._desk.opened.wait()
            await stations.load()
            keys = {name: station.key for name, station in stations.lasting.items()}
            forgetting = Forgetting(self._workflow.graph, self._sources, keys, self._periods.forget)
            rework = Rework(self._workflow.graph, self._sources, stations.queues, self._state, self._periods)
            rework.load(self._desk.entries)
            tasks.create_task(rework.run())
            absences = Absences(self._workflow.name, self._store, self._state)
            await self._go_on(self._desk.entries, forgetting, absences)
            for port, source in self._sources.items():
                feed = self._feed(port, source, forgetting, rework)
                self._feeds.append(feed)
                tasks.create_task(feed.run())
            for station in stations.all.values():
                tasks.create_task(self._work(station, rework))
            tasks.create_task(self._forget(forgetting, absences))

    async def _work(self, station: Station, rework: Rework) -> None:
        """One whose record can't be read keeps no other from its work; what comes to it waits."""
        while not station.is_loaded:
            await station.load()
        await rework.begin(station.name)
        await station.run()

    async def guard(self) -> None:
        """Beside `run`, where others can take objects away: see that the queues' stay. Raises OwnerGone."""
        owners = self._stations.owners
        while len(owners) < len(self._workflow.queues):
            await asyncio.sleep(GUARD)
        own = await patiently(MANAGER, partial(self._owner_of, MANAGER), self._periods)
        load = partial(self._lineage.load, {**owners, MANAGER: own})
        await patiently(MANAGER, load, self._periods)
        await self._lineage.watch(self._periods.owner, self._owner_of)

    async def _owner_of(self, name: str) -> str:
        """A queue's ConfigMap, or the one that the held items of pattern nodes belong to."""
        if name == MANAGER:
            return str((await self._store.holds(self._workflow.name))["uid"])
        return str((await self._store.files(name)).owner["uid"])

    def status(self) -> Status:
        stations = self._stations
        opened = len(self._feeds) == len(self._sources)
        idle = opened and self._desk.settled and stations.idle and all(feed.settled for feed in self._feeds)
        rests = opened and self._desk.rests and stations.rests and all(feed.rests for feed in self._feeds)
        return Status(
            tuple(map(self._source_status, self._feeds)),
            tuple(map(self._queue_status, stations.queues.values())),
            tuple(self._not_before_opened(holder.status()) for holder in stations.holders.values()),
            idle=idle,
            stalled=rests and not idle,
            carriers=tuple(self._not_before_opened(each.status()) for each in stations.publishers.values()),
        )

    def _queue_status(self, queue: Queue) -> QueueStatus:
        status = self._not_before_opened(queue.status())
        unheard = self._desk.problem if self._desk.opened.is_set() else ""
        notice = "; ".join(filter(None, (self._lineage.notice(queue.name), unheard)))
        blocked_by = "api" if status.blocked and not status.knows else status.blocked_by
        return replace(status, notice=notice, blocked_by=blocked_by)

    def _not_before_opened(self, status: S) -> S:
        """Nothing begins before it is known what people asked for."""
        if status.blocked or self._desk.opened.is_set():
            return status
        return replace(status, blocked=self._desk.problem)

    def _source_status(self, feed: Feed) -> SourceStatus:
        status = feed.status()
        dropped = self._stations.dropped.get(dropped_name(feed.port))
        problem = status.problem or (dropped.refusal if dropped else "")
        if not status.up:
            problem += f"; nothing new of it comes to {', '.join(self._workflow.graph.nearest(feed.port))}"
        return replace(status, problem=problem)

    async def _watch(self) -> None:
        async for change in self._store.changes():
            match change:
                case Listed(jobs) if not self._listed.is_set():
                    await self._stations.adopt(jobs)
                case Unsure(reason):
                    log(logging.WARNING, "jobs can't be watched", reason=reason)
            self._stations.learn(change)
            if isinstance(change, Listed):
                self._listed.set()

    def _feed(self, port: Port, source: Source, forgetting: Forgetting, rework: Rework) -> Feed:
        stations = self._stations
        dropped = stations.dropped.get(dropped_name(port))

        def compared(before: Mapping[str, str], now: Mapping[str, str], drains: bool) -> None:
            forgetting.compared(port, before, now, drains)
            if dropped:
                dropped.listed(now)

        return Feed(
            port,
            source,
            self._workflow.graph,
            stations.routing.deliver,
            stations.routing.withdraw,
            stations.look_again,
            partial(rework.listed, port),
            compared,
            stations.unsent[port],
            partial(stations.has_room, port),
            stations.wanted(port),
            stations.held_up([port, failed_port(port)]),
            self._workflow.sources[port.node].ack == "on_done",
            self._periods,
        )

    async def _go_on(self, entries: Mapping[str, str], forgetting: Forgetting, absences: Absences) -> None:
        """From what the manager before this one knew."""
        for name, queue in self._stations.queues.items():
            queue.go_on(entries.get(ARRIVALS + name, ""))
        for name, station in self._stations.lasting.items():
            if not station.is_loaded:
                continue  # what it has in its record is counted anew
            absent = await patiently(name, partial(absences.load, entries, name), self._periods)
            if absent:
                forgetting.absent[name] = absent

    def _arrivals(self) -> dict[str, str]:
        """For the workflow's state; nothing before what the manager before this one knew is read."""
        if not self._feeds:
            return {}
        return {ARRIVALS + name: queue.arrivals() for name, queue in self._stations.queues.items()}

    async def _forget(self, forgetting: Forgetting, absences: Absences) -> None:
        while True:
            known = [feed.remember for feed in self._feeds if feed.remember is not None]
            await until_set(forgetting.dropped, min([self._periods.forget, *known]) / 100)
            forgetting.dropped.clear()
            remembered = {feed.port: feed.remember for feed in self._feeds if feed.remember is not None}
            listings = {feed.port: feed.listing for feed in self._feeds}
            for name, station in self._stations.lasting.items():
                keys = await forgetting.due(name, station.recorded, listings, time.monotonic(), remembered)
                if keys:
                    station.forget(keys)
            for name in list(forgetting.changed):
                forgetting.changed.pop(name)  # it may change again meanwhile
                try:
                    await absences.keep(name, forgetting.absent.get(name))
                except (Refused, Conflict) as error:
                    forgetting.changed[name] = None
                    log(logging.WARNING, "can't keep what is absent", queue=name, reason=str(error))
                    break
