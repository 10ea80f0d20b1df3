"""The manager: the workflow's queues over one store, fed by its sources, until told to stop."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from wqc.contract.names import object_name
from wqc.patterns.item import Item
from wqc.runtime.announcer import announce
from wqc.runtime.desk import Desk
from wqc.runtime.feed import Feed
from wqc.runtime.forgetting import Forgetting
from wqc.runtime.graph import FAILED, Port
from wqc.runtime.ledger import Ledger
from wqc.runtime.logs import log
from wqc.runtime.origin import Offer, Origin
from wqc.runtime.pause import Pause
from wqc.runtime.periods import Periods
from wqc.runtime.queue import Queue
from wqc.runtime.reporter import report
from wqc.runtime.rollout import Rollout
from wqc.runtime.settings import read_queue_settings
from wqc.runtime.sources.source import Source
from wqc.runtime.status import SourceStatus, Status
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.state import StateStore
from wqc.runtime.stores.store import Changed, Gone, JobStore, Listed, Refused, Unsure
from wqc.runtime.templates import Templates
from wqc.runtime.text import decode
from wqc.runtime.workflow import Workflow


class Manager:
    def __init__(
        self,
        workflow: Workflow,
        store: JobStore,
        state: StateStore,
        sources: Mapping[Port, Source],
        periods: Periods,
    ) -> None:
        self._workflow = workflow
        self._graph = workflow.graph
        self._store = store
        self._state = state
        self._sources = sources
        self._periods = periods
        self._queues: dict[str, Queue] = {}
        self._feeds: list[Feed] = []
        self._listed = asyncio.Event()

    async def run(self) -> None:
        """Raises LookupError or ValueError for queues without usable settings."""
        for name in self._workflow.queues:
            self._queues[name] = await self._patiently(name)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch())
            desk = Desk(self._state, self._queues, self._periods)
            tasks.create_task(desk.run())
            await desk.opened.wait()
            await self._listed.wait()
            await asyncio.gather(*(queue.load() for queue in self._queues.values()))
            keys = {name: queue.key for name, queue in self._queues.items()}
            forgetting = Forgetting(self._graph, self._sources, keys, self._periods.forget)
            for port, source in self._sources.items():
                feed = Feed(
                    port,
                    source,
                    self._graph,
                    self._deliver,
                    self._withdraw,
                    self._look_again,
                    forgetting.compared,
                    self._periods,
                )
                self._feeds.append(feed)
                tasks.create_task(feed.run())
            for queue in self._queues.values():
                tasks.create_task(queue.run())
            tasks.create_task(self._forget(forgetting))
            periods = self._periods
            tasks.create_task(announce(self._store, self.status, periods.report, periods.announce))
            tasks.create_task(report(self._state, self.status, self._periods.report))

    def status(self) -> Status:
        return Status(
            tuple(SourceStatus(str(feed.port), feed.problem) for feed in self._feeds),
            tuple(queue.status() for queue in self._queues.values()),
            tuple(
                chain(*(each.stuck for each in self._feeds), *(each.stuck for each in self._queues.values()))
            ),
            idle=len(self._feeds) == len(self._sources)
            and all(feed.settled for feed in self._feeds)
            and all(queue.idle for queue in self._queues.values()),
        )

    async def _patiently(self, name: str) -> Queue:
        pause = Pause(name, self._periods)
        while True:
            try:
                return await self._queue(name)
            except Refused as refused:
                pause.refused(refused)
                await asyncio.sleep(max(0.0, pause.until - time.monotonic()))

    async def _queue(self, name: str) -> Queue:
        files = await self._store.files(name)
        settings = read_queue_settings(files.settings)
        if settings.formerly:
            await self._store.take_over(name, settings.formerly)
        templates = Templates(name, files.job, self._store)
        lanes = [lane.name for lane in settings.lanes]
        prefix = object_name(self._workflow.name, name)
        ports = [Port(name, FAILED)] + [
            Port(name, f"{lane}.{FAILED}") for lane in self._workflow.queues[name]
        ]
        return Queue(
            self._workflow.name,
            settings,
            templates,
            Rollout(name, lanes, settings.rollout, templates.current, self._state),
            files.owner,
            self._store,
            Ledger(name, prefix, self._store, self._periods.flush),
            self._periods,
            self._hand_on,
            any(map(self._graph.is_read, ports)),
        )

    async def _watch(self) -> None:
        async for change in self._store.changes():
            match change:
                case Listed(jobs):
                    for name, queue in self._queues.items():
                        queue.learn(Listed(tuple(job for job in jobs if job.queue == name)))
                    self._listed.set()
                case Changed(job):
                    if job.queue in self._queues:
                        self._queues[job.queue].learn(change)
                case Gone():
                    for queue in self._queues.values():
                        queue.learn(change)
                case Unsure(reason):
                    log(logging.WARNING, "jobs can't be watched", reason=reason)
                    for queue in self._queues.values():
                        queue.doubt()

    # --- items on their way ---

    def _deliver(self, port: Port, item: Item, origin: Origin) -> None:
        self._route([port], item, origin)

    def _hand_on(self, ports: Sequence[Port], job: Job, data: str, complete: Callable[[], None]) -> Origin:
        async def fetch() -> str:
            return data

        origin = Origin(fetch, is_open=lambda: True, complete=complete)
        reads_data = any(map(self._graph.reads_data, ports))
        self._route(ports, Item(job.name, job.version, decode(data) if reads_data else None), origin)
        return origin

    def _route(self, ports: Sequence[Port], item: Item, origin: Origin) -> None:
        routed = self._graph.route(ports, item)
        for stuck in routed.stuck:
            log(logging.WARNING, "item failed", node=stuck.node, item=stuck.name, reason=stuck.reason)
        origin.stuck = routed.stuck
        origin.offers = [Offer(delivery, origin) for delivery in routed.deliveries]
        origin.left = len(origin.offers)
        if not origin.offers:
            origin.settle()
        for offer in list(origin.offers):
            self._queues[offer.delivery.queue].offer(offer)

    def _look_again(self) -> None:
        """What could not be started while its source failed can be now."""
        for queue in self._queues.values():
            queue.look_again()

    async def _forget(self, forgetting: Forgetting) -> None:
        while True:
            await asyncio.sleep(self._periods.forget / 100)
            listings = {feed.port: feed.listing for feed in self._feeds}
            for name, queue in self._queues.items():
                keys = forgetting.due(name, queue.recorded, listings, time.monotonic())
                if keys:
                    queue.forget(keys)

    def _withdraw(self, origin: Origin) -> None:
        for offer in origin.offers:
            if not offer.taken:
                self._queues[offer.delivery.queue].withdraw(offer)
