"""Wherever a workflow's items come to rest, or leave it: its queues, carriers and the like."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TypeVar

from wqc.contract.names import object_name
from wqc.runtime.carriers.carrier import Carrier
from wqc.runtime.graph.graph import FAILED, Port, failed_port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.lanes.rollout import Rollout
from wqc.runtime.manager.routing import GONE, Routing, dropped_name
from wqc.runtime.manager.unsent import Unsent
from wqc.runtime.periods import Periods
from wqc.runtime.queue.dropped import Dropped
from wqc.runtime.queue.holder import Holder
from wqc.runtime.queue.jobstation import JobStation
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.queue.pause import patiently
from wqc.runtime.queue.publisher import Publisher
from wqc.runtime.queue.queue import Queue
from wqc.runtime.queue.station import Station
from wqc.runtime.queue.templates import Templates
from wqc.runtime.settings import read_queue_settings
from wqc.runtime.sources.source import HoldingSource, Source
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.state import StateStore
from wqc.runtime.stores.store import Changed, Gone, JobStore, Listed, Unsure

LEFT = "its .failed has a reader now; retry hands on what it holds"
AHEAD = 16
"""Messages that a source may hold beyond those that its queues work on, and as many that come next."""
ENOUGH = 10_000
"""Items of a source that wait in a lane, beyond which no more are sent there: one that waits takes 1.4 kB,
one that is only listed 20 bytes.
"""
ELSEWHERE = 500
"""As many for a carrier, which is quick."""

S = TypeVar("S", bound=Station)


class Stations:
    def __init__(
        self,
        workflow: Workflow,
        store: JobStore,
        state: StateStore,
        sources: Mapping[Port, Source],
        carriers: Mapping[str, Carrier],
        periods: Periods,
    ) -> None:
        self._workflow = workflow
        self._graph = workflow.graph
        self._store = store
        self._state = state
        self._sources = sources
        self._carriers = carriers
        self._periods = periods
        self.queues: dict[str, Queue] = {}
        self.holders: dict[str, Holder] = {}
        """By the node whose failed items it holds."""
        self.publishers: dict[str, Publisher] = {}
        """By carrier."""
        self.dropped: dict[str, Dropped] = {}
        """Of the sources that may keep their items until they are told."""
        self.all: dict[str, Station] = {}
        self.owners: dict[str, str] = {}
        """By queue, what stands for the object that its Jobs belong to."""
        self.unsent = {port: Unsent() for port in sources}
        self.routing = Routing(self._graph, sources, self.all)

    async def make(self) -> None:
        """Each once its objects can be read. Raises LookupError or ValueError for queues without usable
        settings.
        """
        for name in self._workflow.queues:
            await self._add(self.queues, name, self._queue)
        for node in self._holding():
            await self._add(self.holders, node, self._holder)
        for name in self._workflow.carriers:
            await self._add(self.publishers, name, self._publisher)
        for port, source in self._sources.items():
            if isinstance(source, HoldingSource):
                await self._add(self.dropped, dropped_name(port), self._dropped)
        if self._workflow.nodes:
            # what pattern nodes hold belongs to the manager's own object
            own = self._workflow.name
            await patiently(own, partial(self._store.holds, own), self._periods)

    async def adopt(self, jobs: Sequence[Job]) -> None:
        """What nodes held that hold nothing any more, since they are gone, or their `.failed` is read now."""
        for node in dict.fromkeys(job.queue for job in jobs if job.held and not job.done):
            if node not in self.all:
                await self._add(self.holders, node, self._holder)

    async def load(self) -> None:
        """Read what each has recorded, as far as it can be. After the first listing of Jobs."""
        await asyncio.gather(*(station.load() for station in self.all.values()))

    @property
    def lasting(self) -> dict[str, Station]:
        """What these record is forgotten when no source has listed it for long."""
        return {**self.queues, **self.holders, **self.publishers}

    @property
    def idle(self) -> bool:
        return all(station.idle for station in self.all.values())

    @property
    def rests(self) -> bool:
        return all(station.rests for station in self.all.values())

    def learn(self, change: Listed | Changed | Gone | Unsure) -> None:
        """What the store says of the workflow's Jobs."""
        match change:
            case Listed(jobs):
                for name, station in self._with_jobs():
                    station.learn(Listed(tuple(job for job in jobs if job.queue == name)))
            case Changed(job):
                if found := self.queues.get(job.queue) or self.holders.get(job.queue):
                    found.learn(change)
            case Gone():
                for _, station in self._with_jobs():
                    station.learn(change)
            case Unsure(reason):
                for _, station in self._with_jobs():
                    station.doubt(reason)

    def look_again(self) -> None:
        """What could not be started while its source failed can be now."""
        for station in self.all.values():
            station.look_again()

    def wanted(self, port: Port) -> int:
        """How many items of a source the stations that they come to first can do with at a time."""
        queues = (self.queues.get(name) for name in self._graph.nearest(port))
        return AHEAD + sum(2 * queue.most if queue else ELSEWHERE for queue in queues)

    def has_room(self, port: Port) -> bool:
        """In some lane that the source's items come to first few of them wait; that others are slow doesn't
        keep them from it, nor do another source's items. Nor do many wait to be held: more than can be are
        in the way of all.
        """
        ports = (port, failed_port(port))
        lines = chain.from_iterable(map(self._graph.lines, ports))
        fewest = min((self.all[line.station].waiting_in(line) for line in lines), default=0)
        return max(fewest, *(holder.waiting for holder in self._holders(ports)), 0) < ENOUGH

    def expected(self, station: str, lane: str) -> int:
        """How many more items are listed that are likely to come there."""
        return sum(each.likely(station, lane) for each in self.unsent.values())

    def held_up(self, ports: Sequence[Port]) -> Callable[[], str]:
        """Why nothing more may come from these ports: who should hold what fails after them has no room."""

        def why() -> str:
            return next((holder.full for holder in self._holders(ports) if holder.full), "")

        return why

    def _holders(self, ports: Sequence[Port]) -> list[Holder]:
        """Of what fails between these ports and the next queues, or in the ports' sources."""
        nodes = [*self._graph.holding(ports), *map(str, ports)]
        return [self.holders[node] for node in nodes if node in self.holders]

    def _with_jobs(self) -> Iterator[tuple[str, JobStation]]:
        return chain(self.queues.items(), self.holders.items())

    def _done_jobs(self) -> int:
        return sum(station.done_jobs for station in self.all.values())

    # --- making them ---

    async def _add(self, kind: dict[str, S], name: str, make: Callable[[str], Awaitable[S]]) -> None:
        self.all[name] = kind[name] = await patiently(name, partial(make, name), self._periods)

    async def _queue(self, name: str) -> Queue:
        files = await self._store.files(name)
        self.owners[name] = files.owner["uid"]
        settings = read_queue_settings(files.settings)
        if settings.formerly:
            await self._store.take_over(name, settings.formerly)
        templates = Templates(name, files.job, self._store, settings.formerly)
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
            self.routing.hand_on,
            any(self._graph.is_read(port) for port in ports if port.output.endswith(FAILED)),
            self.held_up(ports),
            self._done_jobs,
            partial(self.expected, name),
        )

    async def _holder(self, node: str) -> Holder:
        owner = await self._store.holds(node)
        return Holder(
            self._workflow.name,
            node,
            owner,
            self._store,
            self._ledger(node),
            self._periods,
            self.routing.again,
            self.look_again,
            self._done_jobs,
            "" if node in self._holding() else LEFT if self.routing.is_node(node) else GONE,
        )

    async def _publisher(self, name: str) -> Publisher:
        await self._store.holds(name)
        expected = partial(self.expected, name, "")
        return Publisher(name, self._carriers[name], self._store, self._ledger(name), self._periods, expected)

    async def _dropped(self, name: str) -> Dropped:
        await self._store.holds(name)
        return Dropped(name, self._store, self._ledger(name), self._periods)

    def _ledger(self, name: str) -> Ledger:
        return Ledger(name, object_name(self._workflow.name, name), self._store, self._periods.flush)

    def _holding(self) -> list[str]:
        """The nodes whose failed items are held: nobody reads them."""
        ports = [*self._sources, *map(failed_port, self._sources)]
        ports += [port for queue in self._workflow.queues for port in self._outputs(queue)]
        sources = [
            str(port)
            for port, source in self._sources.items()
            if isinstance(source, HoldingSource) and not self._graph.is_read(failed_port(port))
        ]
        return [*sources, *self._graph.holding(ports)]

    def _outputs(self, queue: str) -> list[Port]:
        lanes = ["", *(lane for lane in self._workflow.queues[queue] if lane)]
        return [each for lane in lanes for each in (Port(queue, lane), failed_port(Port(queue, lane)))]
