"""The manager: the workflow's queues over one store, fed by its sources, until told to stop."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from wqc.contract.names import LABEL_LIMIT, MANAGER, item_hash, object_name
from wqc.patterns.item import Item
from wqc.runtime.carriers.carrier import Carrier
from wqc.runtime.graph.graph import FAILED, Delivery, Port, failed_port
from wqc.runtime.graph.origin import Offer, Origin
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.lanes.rollout import Rollout
from wqc.runtime.logs import log
from wqc.runtime.manager.absences import Absences
from wqc.runtime.manager.announcer import announce
from wqc.runtime.manager.desk import Desk
from wqc.runtime.manager.feed import Feed
from wqc.runtime.manager.forgetting import Forgetting
from wqc.runtime.manager.lineage import Lineage
from wqc.runtime.manager.reporter import report
from wqc.runtime.manager.status import SourceStatus, Status
from wqc.runtime.periods import Periods
from wqc.runtime.queue.dropped import Dropped
from wqc.runtime.queue.holder import Holder, fails_in
from wqc.runtime.queue.judge import Fetch
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.publisher import Publisher
from wqc.runtime.queue.queue import Queue
from wqc.runtime.queue.templates import Templates
from wqc.runtime.settings import read_queue_settings
from wqc.runtime.sources.source import HoldingSource, Source
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import Changed, Gone, JobStore, Listed, Refused, Unsure
from wqc.runtime.text import decode_known
from wqc.runtime.waiting import until_set

T = TypeVar("T")
ARRIVALS = "arrivals."
"""Entries of the state: what each queue has seen of new items."""
DROPPED = "--dropped"
"""After a source's name, what isn't handed to anybody; no name of the language has two hyphens in a row."""
AHEAD = 16
"""Messages that a source may hold beyond those that its queues work on, and as many that come next."""
ELSEWHERE = 500
"""As many for a carrier, which is quick."""
GONE = "it isn't in the workflow any more; discard lets go of what it holds"
LEFT = "its .failed has a reader now; retry hands on what it holds"
GUARD = 0.5
"""Seconds between two looks at whether all queues are read."""


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
        self._graph = workflow.graph
        self._store = store
        self._state = state
        self._sources = sources
        self._carriers = carriers or {}
        self._periods = periods
        self._queues: dict[str, Queue] = {}
        self._holders: dict[str, Holder] = {}
        """By the node whose failed items it holds."""
        self._publishers: dict[str, Publisher] = {}
        """By carrier."""
        self._dropped: dict[Port, Dropped] = {}
        """By source that may keep its items until it is told."""
        self._lasting: dict[str, Queue | Holder | Publisher] = {}
        """What these record is forgotten when no source has listed it for long."""
        self._stations: dict[str, Queue | Holder | Publisher | Dropped] = {}
        """Wherever items come to rest, or leave the workflow: all of these."""
        self._owners: dict[str, str] = {}
        """By queue, what stands for the object that its Jobs belong to."""
        self._lineage = Lineage(state, periods.lost)
        self._feeds: list[Feed] = []
        self._listed = asyncio.Event()

    async def run(self) -> None:
        """Raises LookupError or ValueError for queues without usable settings."""
        for name in self._workflow.queues:
            self._queues[name] = await self._patiently(name, self._queue)
        for node in self._holding():
            self._holders[node] = await self._patiently(node, self._holder)
        for name in self._workflow.carriers:
            self._publishers[name] = await self._patiently(name, self._publisher)
        for port, source in self._sources.items():
            if isinstance(source, HoldingSource):
                self._dropped[port] = await self._patiently(_dropped_name(port), self._drops)
        if self._workflow.nodes:
            # what pattern nodes hold belongs to the manager's own object
            await self._patiently(self._workflow.name, self._store.holds)
        self._lasting = {**self._queues, **self._holders, **self._publishers}
        self._stations = {**self._lasting, **{each.name: each for each in self._dropped.values()}}
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch())
            desk = Desk(self._state, self._queues, self._holders, self._periods)
            tasks.create_task(desk.run())
            await desk.opened.wait()
            await self._listed.wait()
            await asyncio.gather(*(station.load() for station in self._stations.values()))
            keys = {name: station.key for name, station in self._lasting.items()}
            forgetting = Forgetting(self._graph, self._sources, keys, self._periods.forget)
            absences = Absences(self._workflow.name, self._store, self._state)
            await self._go_on(desk.entries, forgetting, absences)
            for port, source in self._sources.items():
                feed = Feed(
                    port,
                    source,
                    self._graph,
                    self._deliver,
                    self._withdraw,
                    self._look_again,
                    partial(self._compared, forgetting),
                    self._wanted(port),
                    self._held_up([port, failed_port(port)]),
                    self._workflow.sources[port.node].ack == "on_done",
                    self._periods,
                )
                self._feeds.append(feed)
                tasks.create_task(feed.run())
            for station in self._stations.values():
                tasks.create_task(station.run())
            tasks.create_task(self._forget(forgetting, absences))
            periods = self._periods
            tasks.create_task(announce(self._store, self.status, periods.report, periods.announce))
            tasks.create_task(report(self._state, self.status, self._arrivals, periods.report))

    async def guard(self) -> None:
        """Beside `run`, where others can take objects away: see that the queues' stay. Raises OwnerGone."""
        while len(self._owners) < len(self._workflow.queues):
            await asyncio.sleep(GUARD)
        own = await self._patiently(MANAGER, self._owner_of)
        await self._patiently(MANAGER, lambda _: self._lineage.load({**self._owners, MANAGER: own}))
        await self._lineage.watch(self._periods.owner, self._owner_of)

    async def _owner_of(self, name: str) -> str:
        """A queue's ConfigMap, or the one that the held items of pattern nodes belong to."""
        if name == MANAGER:
            return str((await self._store.holds(self._workflow.name))["uid"])
        return str((await self._store.files(name)).owner["uid"])

    def status(self) -> Status:
        listed = len(self._feeds) == len(self._sources)
        idle = (
            listed
            and all(feed.settled for feed in self._feeds)
            and all(station.idle for station in self._stations.values())
        )
        rests = (
            listed
            and all(feed.rests for feed in self._feeds)
            and all(station.rests for station in self._stations.values())
        )
        return Status(
            tuple(map(self._source_status, self._feeds)),
            tuple(
                replace(queue.status(), notice=self._lineage.notice(name))
                for name, queue in self._queues.items()
            ),
            tuple(holder.status() for holder in self._holders.values()),
            idle=idle,
            stalled=rests and not idle,
            carriers=tuple(publisher.status() for publisher in self._publishers.values()),
        )

    def _source_status(self, feed: Feed) -> SourceStatus:
        status = feed.status()
        dropped = self._dropped.get(feed.port)
        return replace(status, problem=status.problem or (dropped.refusal if dropped else ""))

    def _wanted(self, port: Port) -> int:
        """How many items of a source the stations that they come to first can do with at a time."""
        queues = (self._queues.get(name) for name in self._graph.nearest(port))
        return AHEAD + sum(2 * queue.most if queue else ELSEWHERE for queue in queues)

    def _holding(self) -> list[str]:
        """The nodes whose failed items are held: nobody reads them."""
        ports = [*self._sources, *map(failed_port, self._sources)]
        ports += [port for queue in self._queues for port in self._outputs(queue)]
        sources = [
            str(port)
            for port, source in self._sources.items()
            if isinstance(source, HoldingSource) and not self._graph.is_read(failed_port(port))
        ]
        return [*sources, *self._graph.holding(ports)]

    def _outputs(self, queue: str) -> list[Port]:
        lanes = ["", *(lane for lane in self._workflow.queues[queue] if lane)]
        return [each for lane in lanes for each in (Port(queue, lane), failed_port(Port(queue, lane)))]

    def _held_up(self, ports: Sequence[Port]) -> Callable[[], str]:
        """Why nothing more may come from these ports: who should hold what fails after them has no room."""
        nodes = [*self._graph.holding(ports), *map(str, ports)]

        def why() -> str:
            return next((each.full for node in nodes if (each := self._holders.get(node)) and each.full), "")

        return why

    async def _patiently(self, name: str, make: Callable[[str], Awaitable[T]]) -> T:
        pause = Pause(name, self._periods)
        while True:
            try:
                return await make(name)
            except Refused as refused:
                pause.refused(refused)
                await asyncio.sleep(max(0.0, pause.until - time.monotonic()))

    async def _publisher(self, name: str) -> Publisher:
        await self._store.holds(name)
        ledger = Ledger(name, object_name(self._workflow.name, name), self._store, self._periods.flush)
        return Publisher(name, self._carriers[name], ledger, self._periods)

    async def _drops(self, name: str) -> Dropped:
        await self._store.holds(name)
        ledger = Ledger(name, object_name(self._workflow.name, name), self._store, self._periods.flush)
        return Dropped(name, self._store, ledger, self._periods)

    async def _adopt(self, jobs: Sequence[Job]) -> None:
        """What nodes held that hold nothing any more, since they are gone, or their `.failed` is read now."""
        nodes = dict.fromkeys(job.queue for job in jobs if job.held and not job.done)
        for node in nodes:
            if node not in self._stations:
                holder = await self._patiently(node, self._holder)
                self._holders[node] = self._lasting[node] = self._stations[node] = holder

    async def _holder(self, node: str) -> Holder:
        owner = await self._store.holds(node)
        prefix = object_name(self._workflow.name, node)
        ledger = Ledger(node, prefix, self._store, self._periods.flush)
        return Holder(
            self._workflow.name,
            node,
            owner,
            self._store,
            ledger,
            self._periods,
            self._again,
            self._look_again,
            "" if node in self._holding() else LEFT if self._is_node(node) else GONE,
        )

    async def _queue(self, name: str) -> Queue:
        files = await self._store.files(name)
        self._owners[name] = files.owner["uid"]
        settings = read_queue_settings(files.settings)
        if settings.formerly:
            await self._store.take_over(name, settings.formerly)
        templates = Templates(name, files.job, self._store)
        lanes = [lane.name for lane in settings.lanes]
        prefix = object_name(self._workflow.name, name)
        flush = self._periods.flush
        failures = Ledger(name, f"{prefix}--failed", self._store, flush, "failed")
        ports = self._outputs(name)
        return Queue(
            self._workflow.name,
            settings,
            templates,
            Rollout(name, lanes, settings.rollout, templates.current, self._state),
            files.owner,
            self._store,
            Ledger(name, prefix, self._store, flush, failures=failures),
            self._periods,
            self._hand_on,
            any(self._graph.is_read(port) for port in ports if port.output.endswith(FAILED)),
            self._held_up(ports),
        )

    async def _watch(self) -> None:
        async for change in self._store.changes():
            match change:
                case Listed(jobs):
                    if not self._listed.is_set():
                        await self._adopt(jobs)
                    for name, station in self._stations.items():
                        station.learn(Listed(tuple(job for job in jobs if job.queue == name)))
                    self._listed.set()
                case Changed(job):
                    if job.queue in self._stations:
                        self._stations[job.queue].learn(change)
                case Gone():
                    for station in self._stations.values():
                        station.learn(change)
                case Unsure(reason):
                    log(logging.WARNING, "jobs can't be watched", reason=reason)
                    for station in self._stations.values():
                        station.doubt()

    # --- items on their way ---

    def _deliver(self, port: Port, item: Item, origin: Origin, failure: str) -> None:
        deliveries = self._graph.fail(port, item, failure) if failure else self._graph.route([port], item)
        if not deliveries and origin.until_told:
            origin.is_dropped = True
            deliveries = (Delivery(self._dropped[port].name, "", item.name, item.version),)
        self._send(deliveries, origin)

    def _compared(
        self, forgetting: Forgetting, port: Port, before: dict[str, str], now: dict[str, str], drains: bool
    ) -> None:
        forgetting.compared(port, before, now, drains)
        if port in self._dropped:
            self._dropped[port].listed(now)

    def _hand_on(
        self,
        ports: Sequence[Port],
        job: Job,
        data: str,
        fetch: Fetch | None,
        complete: Callable[[], None],
    ) -> Origin:
        origin = _of_job(data, fetch, complete)
        reads_data = any(map(self._graph.reads_data, ports))
        item = Item(job.name, job.version, decode_known(data) if reads_data else None)
        self._send(self._graph.route(ports, item), origin)
        return origin

    def _again(
        self, node: str, job: Job, data: str, fetch: Fetch | None, complete: Callable[[], None]
    ) -> Origin | str:
        if not self._is_node(node):
            return GONE
        item = Item(job.name, job.version, decode_known(data))
        port = next((port for port in self._sources if str(port) == node), None)
        deliveries = self._graph.fail(port, item, job.reason) if port else self._graph.again(node, item)
        if failure := fails_in(node, deliveries):
            return failure
        origin = _of_job(data, fetch, complete)
        self._send(deliveries, origin)
        return origin

    def _is_node(self, name: str) -> bool:
        """A pattern node or a source, or a member of one."""
        return self._graph.has_pattern(name) or name in map(str, self._sources)

    def _send(self, deliveries: Sequence[Delivery], origin: Origin) -> None:
        origin.offers = [Offer(delivery, origin) for delivery in deliveries]
        origin.left = len(origin.offers)
        if not origin.offers:
            origin.settle()
        for offer in list(origin.offers):
            self._stations[offer.delivery.station].offer(offer)

    def _look_again(self) -> None:
        """What could not be started while its source failed can be now."""
        for station in self._stations.values():
            station.look_again()

    async def _go_on(self, entries: Mapping[str, str], forgetting: Forgetting, absences: Absences) -> None:
        """From what the manager before this one knew."""
        for name, queue in self._queues.items():
            queue.go_on(entries.get(ARRIVALS + name, ""))
        for name in self._lasting:
            absent = await self._patiently(name, partial(absences.load, entries))
            if absent:
                forgetting.absent[name] = absent

    def _arrivals(self) -> dict[str, str]:
        """For the workflow's state."""
        return {ARRIVALS + name: queue.arrivals() for name, queue in self._queues.items()}

    async def _forget(self, forgetting: Forgetting, absences: Absences) -> None:
        while True:
            known = [feed.remember for feed in self._feeds if feed.remember is not None]
            await until_set(forgetting.dropped, min([self._periods.forget, *known]) / 100)
            forgetting.dropped.clear()
            remembered = {feed.port: feed.remember for feed in self._feeds if feed.remember is not None}
            listings = {feed.port: feed.listing for feed in self._feeds}
            for name, station in self._lasting.items():
                keys = forgetting.due(name, station.recorded, listings, time.monotonic(), remembered)
                if keys:
                    station.forget(keys)
            for name in list(forgetting.changed):
                try:
                    await absences.keep(name, forgetting.absent.get(name))
                    forgetting.changed.pop(name)
                except (Refused, Conflict) as error:
                    log(logging.WARNING, "can't keep what is absent", queue=name, reason=str(error))
                    break

    def _withdraw(self, origin: Origin) -> None:
        for offer in origin.offers:
            if not offer.taken:
                self._stations[offer.delivery.station].withdraw(offer)


def _dropped_name(port: Port) -> str:
    """It becomes a label, for which a source's name may be too long; two of them stay two."""
    name = str(port)
    if len(name) > LABEL_LIMIT - len(DROPPED):
        name = item_hash(name, "").hex()
    return name + DROPPED


def _of_job(data: str, fetch: Fetch | None, complete: Callable[[], None]) -> Origin:
    """A finished Job's item, or one that it holds; a Job doesn't change its mind."""

    async def same() -> str:
        return data

    return Origin(fetch or same, is_open=lambda: True, complete=complete)
