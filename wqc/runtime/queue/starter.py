"""How a queue starts attempts: as many as its lanes have room for, retries before new items."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wqc.contract.names import ATTEMPT_DIGITS
from wqc.contract.settings import Lane, QueueSettings
from wqc.runtime.graph.graph import Line
from wqc.runtime.graph.origin import Offer
from wqc.runtime.lanes.arrivals import Seen
from wqc.runtime.lanes.health import FAILURES, Health
from wqc.runtime.lanes.inbox import Inbox
from wqc.runtime.lanes.rollout import Rollout
from wqc.runtime.lanes.scaler import Scaler, SlotTime
from wqc.runtime.logs import log
from wqc.runtime.manager.status import NAME_SHOWN, Trouble, in_words
from wqc.runtime.obstacles import Kind, Obstacle
from wqc.runtime.periods import Periods
from wqc.runtime.queue.attempt import Identity, attempt_name, job_manifest
from wqc.runtime.queue.book import DELETED, Attempts, Book
from wqc.runtime.queue.custody import Custody
from wqc.runtime.queue.fetching import Fetching
from wqc.runtime.queue.heldjob import held_job
from wqc.runtime.queue.largeitem import ItemTooLarge
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.templates import Templates
from wqc.runtime.queue.troubles import Troubles
from wqc.runtime.queue.verdict import ItemFailed, Lost, verdict
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import AlreadyExists, ForeignJob, JobStore, Refused

MOST_ATTEMPTS = int("9" * ATTEMPT_DIGITS)
LOST_OFTEN = 3
"""Attempts of an item, after which it is no accident any more."""
AT_ONCE = 16
"""Requests under way at the same time, per queue."""


class Starter:
    def __init__(
        self,
        workflow: str,
        settings: QueueSettings,
        templates: Templates,
        rollout: Rollout,
        owner: dict[str, Any],
        store: JobStore,
        book: Book,
        custody: Custody,
        pause: Pause,
        periods: Periods,
        started: Callable[[Job, Offer | None], None],
        expected: Callable[[str], int],
        look_again: Callable[[], None],
    ) -> None:
        """`expected`: how many items are listed that a lane is likely to get. `look_again` is called when
        there is more that may be started.
        """
        self._workflow = workflow
        self._settings = settings
        self._templates = templates
        self._rollout = rollout
        self._owner = owner
        self._store = store
        self._book = book
        self._custody = custody
        self._pause = pause
        self._periods = periods
        self._started = started
        self._expected = expected
        self._fetching = Fetching(look_again)
        self._lanes = {lane.name: lane for lane in settings.lanes}
        self._deferred: dict[bytes, Offer] = {}
        """New items that could not be started; they are tried again when they are due."""
        self._troubles = Troubles[bytes]("started", periods.backoff, periods, queue=settings.queue)
        self.slot = SlotTime(settings.takes)
        self._scalers = {
            lane.name: Scaler(lane, settings.arrives, settings.deadline, time.monotonic())
            for lane in settings.lanes
        }
        self.inbox = Inbox(tuple(self._lanes))
        self._health = Health(tuple(self._lanes), periods.unhealthy, periods.probe)
        self._hindered: dict[str, dict[bytes, Trouble]] = {lane: {} for lane in self._lanes}
        """By lane, the items whose attempts can't start, or never did."""
        self.begins = False
        """Items that wait no longer are about to have their Jobs."""

    @property
    def waiting(self) -> int:
        return len(self.inbox) + len(self._deferred)

    @property
    def expected(self) -> int:
        """How many items are listed that are likely to come."""
        return sum(map(self._expected, self._lanes))

    def waiting_in(self, line: Line) -> int:
        """But for those that couldn't be started: what comes behind them can be, perhaps."""
        return self.inbox.in_line(line)

    def next_due(self) -> list[float]:
        """When there may be something to start, on the monotonic clock."""
        return [
            *(attempts.due for attempts in self._book.at("retry")),
            *map(self._troubles.due, self._deferred),
            *map(self._health.next_look, self._lanes),
        ]

    @property
    def parallelism(self) -> int:
        """How many items may be worked on at a time, over all lanes."""
        return sum(scaler.parallelism for scaler in self._scalers.values())

    @property
    def oldest(self) -> float:
        """Seconds that the item has waited for its first attempt that waits longest; 0 if none does."""
        now = time.monotonic()
        since = self.inbox.since + [offer.since for offer in self._deferred.values()]
        return now - min(since, default=now)

    @property
    def arrival_interval(self) -> float | None:
        """Mean seconds between two new items, whichever their lanes; None while that is not known."""
        now = time.monotonic()
        rates = [1 / interval for each in self._scalers.values() if (interval := each.interval(now))]
        return 1 / sum(rates) if rates else None

    def problem(self, troubles: Sequence[Trouble]) -> Obstacle | None:
        """What keeps a lane or these items from starting."""
        if unhealthy := [lane for lane in self._lanes if not self._health.is_well(lane)]:
            first = next(iter(self._hindered[unhealthy[0]].values()), None)
            why = f"{first.item}: {first.reason}" if first else "attempts are lost"
            kind = first.kind if first else "lost"
            return Obstacle(kind, f"unhealthy: {', '.join(unhealthy)}; {why}")
        return Obstacle(troubles[0].kind, in_words(troubles, "started")) if troubles else None

    def troubles(self) -> list[Trouble]:
        """Of each item that can't be started."""
        found: dict[bytes, Trouble] = {}
        for hindered in self._hindered.values():
            found |= hindered
        found |= self._troubles.items()
        for attempts in [*self._book.at("retry"), *self._book.at("active")]:
            if lost := self._lost(attempts):
                found.setdefault(attempts.key, Trouble(attempts.latest.name[:NAME_SHOWN], lost, kind="lost"))
        return list(found.values())

    def retrying(self) -> list[Trouble]:
        """What became of the last attempt of each item whose next one is due, now or later, if nothing is in
        the way of that.
        """
        return [
            Trouble(attempts.latest.name[:NAME_SHOWN], attempts.reason)
            for attempts in self._book.at("retry")
            if not (attempts.key in self._troubles or attempts.latest.hindrance or self._lost(attempts))
        ]

    def _lost(self, attempts: Attempts) -> str:
        """What has become of an item's attempts, if many ended without a word of it; "" otherwise."""
        job = attempts.latest
        is_lost = attempts.stage == "retry" and isinstance(verdict(job, self._settings), Lost)
        count = job.attempt - job.failures - (not is_lost)
        if count < LOST_OFTEN or job.running:
            return ""
        reason = attempts.reason and f": {attempts.reason}"
        who = "; who deletes Jobs here?" if attempts.reason == DELETED else ""
        return f"{count} of its attempts are lost{reason}{who}"

    def judged(self, key: bytes, job: Job) -> None:
        """What became of an attempt says how well its lane is."""
        lane = self.lane(job).name
        at = time.monotonic() - max(0.0, time.time() - (job.finished or time.time()))
        if job.phase == "succeeded":
            self._health.succeeded(lane, at)
        elif (job.phase == "lost" and not job.cut_off) or job.hindrance:
            was_well = self._health.is_well(lane)
            self._health.failed(lane, key, self._scalers[lane].parallelism, at)
            if was_well and not self._health.is_well(lane):
                log(logging.WARNING, "lane is unhealthy", queue=self._settings.queue, lane=lane)

    def arrived(self, offer: Offer) -> None:
        """A new item, for the rate of arrivals."""
        if not offer.origin.is_backlog:
            self._scalers[offer.delivery.lane].arrived(time.monotonic())

    def arrivals(self) -> dict[str, Seen]:
        """What each lane has seen of them, for the next manager."""
        now = time.monotonic()
        return {name: scaler.seen(now) for name, scaler in self._scalers.items()}

    def go_on(self, arrivals: Mapping[str, Seen]) -> None:
        """From what another manager saw."""
        for name, seen in arrivals.items():
            if name in self._scalers:
                self._scalers[name].go_on(seen, time.monotonic())

    def put(self, key: bytes, offer: Offer) -> None:
        self._deferred.pop(key, None)
        self.inbox.put(key, offer)

    def discard(self, key: bytes) -> Offer | None:
        """The offer of an item that is no longer to be started."""
        self._troubles.settle(key)
        self._fetching.drop(key)
        deferred = self._deferred.pop(key, None)
        return self.inbox.discard(key) or deferred

    async def start(self, may_start: Callable[[], bool]) -> None:
        """Start attempts until there is no room or nothing left. `may_start` is asked before each batch."""
        now = time.monotonic()
        for key, offer in list(self._deferred.items()):
            if self._troubles.due(key) <= now:
                self.put(key, offer)
        while self._pause.over and may_start():
            batch = self._next_batch(now)
            if not batch:
                if not (self.waiting or self._book.count("retry")):
                    self._pause.succeeded()  # what was refused is wanted no more
                return
            self.begins = True
            await asyncio.gather(*batch)
            self.begins = False

    def _next_batch(self, now: float) -> list[Any]:
        free = {
            name: scaler.scale(self.inbox.in_lane(name) + self._expected(name), self.slot.mean, now)
            for name, scaler in self._scalers.items()
        }
        for name, count in self._book.under_way.by_lane().items():
            free[self._lane(name).name] -= count
        probing = self._look_for_hindrances(now)
        self._leave_unhealthy_lanes()
        closed: set[str] = set()
        """Lanes that begin nothing new."""
        for name, hindered in self._hindered.items():
            is_well = self._health.is_well(name)
            if not is_well and self._health.next_probe(name) > now:
                free[name] = 0
            if len(hindered) >= (1 if len(self._lanes) == 1 or not is_well else FAILURES):
                # what is in the way of one is in the way of all; these find out when it is gone
                free[name] = 1 if name in probing else 0
                closed.add(name)
            elif not is_well:
                free[name] = min(free[name], 1)
        batch: list[Any] = []
        for attempts in self._book.at("retry"):
            lane = self.lane(attempts.latest)
            if attempts.due <= now and free[lane.name] > 0 and len(batch) < AT_ONCE:
                free[lane.name] -= 1
                batch.append(self._again(attempts, lane))
                self._tried(lane.name, now)
        for name, lane in self._lanes.items():
            while (
                name not in closed
                and free[name] > 0
                and len(batch) < AT_ONCE
                and (following := self.inbox.next(name, self._fetching.holds_up))
            ):
                free[name] -= 1
                batch.append(self._begin(*following, lane))
                self._tried(name, now)
        return batch

    def _look_for_hindrances(self, now: float) -> set[str]:
        """The lanes where all attempts that can't start, or never did, are over, and so are their back-offs.

        There the next attempt at one of them finds out whether it is still so; one that can't be made won't.
        """
        self._hindered = {lane: {} for lane in self._lanes}
        backing_off: set[str] = set()
        at_work = {self._lane(name).name for name in self._book.under_way.by_lane()}
        running = {self._lane(name).name for name in self._book.under_way.running()}
        for attempts in self._book.under_way.hindered():
            if attempts.latest.hindrance:
                # it still is: when it began, the lane's last success may have been too young to say anything
                self.judged(attempts.key, attempts.latest)
            self._hinder(self.lane(attempts.latest).name, attempts, attempts.last_hindered)
        for attempts in self._book.at("retry"):
            if attempts.key in self._troubles:
                continue
            lane = self.lane(attempts.latest).name
            if lane not in running:
                self._hinder(lane, attempts, attempts.latest)
            if attempts.latest.hindrance and attempts.due > now:
                backing_off.add(lane)
        hindered = {lane for lane, items in self._hindered.items() if items}
        return hindered - at_work - backing_off

    def _hinder(self, lane: str, attempts: Attempts, job: Job) -> None:
        if job.hindrance:
            trouble = Trouble(job.name[:NAME_SHOWN], job.hindrance, lane, job.hindered_by)
            self._hindered[lane][attempts.key] = trouble

    def _tried(self, lane: str, now: float) -> None:
        if not self._health.is_well(lane):
            self._health.probes(lane, now)

    def _leave_unhealthy_lanes(self) -> None:
        """What isn't started goes to the healthy lanes, but for an item that may be tried.

        Where Jobs wait for what hinders them, they find out when it is gone.
        """
        healthy = self._health.healthy
        for lane in self._lanes:
            if self._health.is_well(lane) or not healthy:
                continue
            for key, offer in self.inbox.items(lane)[0 if self._hindered[lane] else 1 :]:
                self.inbox.discard(key)
                to = healthy[int.from_bytes(key) % len(healthy)]
                offer.delivery = replace(offer.delivery, lane=to)
                self.inbox.put(key, offer)

    def lane(self, job: Job) -> Lane:
        """The lane that a Job's item belongs to; the first one if its own was taken out of the workflow."""
        return self._lane(job.lane)

    def _lane(self, name: str) -> Lane:
        return self._lanes.get(name) or self._settings.lanes[0]

    def is_mended(self, job: Job) -> bool:
        """It can't start, and what it is made from isn't what its lane's next attempt is made from."""
        if not job.hindrance or job.running:
            return False
        lane = self.lane(job)
        digest = self._rollout.template(lane.name)
        selector = self._templates[digest]["spec"]["template"]["spec"].get("nodeSelector") or {}
        wanted = tuple(sorted((selector | lane.node_selector).items()))
        return (job.template, job.node_selector) != (digest, wanted)

    async def _begin(self, key: bytes, offer: Offer, lane: Lane) -> None:
        try:
            text = await self._fetching.text(key, offer)
        except SourceError as error:
            self._defer(key, offer, str(error), "source")
            return
        if offer.withdrawn:
            return
        if text is None:
            self.inbox.put_back(key, offer)
            return
        identity = Identity(offer.delivery.name, offer.delivery.version, 0, 1, 0)
        try:
            job = await self._create(identity, lane, text)
        except ForeignJob as error:
            self._defer(key, offer, str(error), "name")
        except Refused as refused:
            self._pause.refused(refused)
            if not offer.withdrawn:
                self.inbox.put(key, offer)
        else:
            self._pause.succeeded()
            self._troubles.settle(key)
            self._started(job, offer)

    async def _again(self, attempts: Attempts, lane: Lane) -> None:
        job = attempts.latest
        renewed = attempts.renewed == job.job
        round = job.round + renewed
        attempt = attempts.next_attempt(round)
        if attempt > MOST_ATTEMPTS:
            attempts.due = float("inf")
            why = f"{MOST_ATTEMPTS} attempts are lost; no name is left for more"
            self._troubles.note(attempts.key, job.name, why, "lost")
            return
        counted = isinstance(verdict(job, self._settings), ItemFailed)
        failures = 0 if renewed else job.failures + counted
        identity = Identity(job.name, job.version, round, attempt, failures)
        try:
            following = await self._create(identity, lane, await self._custody.data(attempts))
        except SourceError as error:
            if job.held:
                attempts.reason = str(error)
                self._book.move(attempts, "dead")
                return
            attempts.due = self._troubles.note(attempts.key, job.name, str(error), "source")
        except ForeignJob as error:
            self._troubles.note(attempts.key, job.name, str(error), "name")
            attempts.due = time.monotonic() + self._periods.backoff_limit
        except Refused as refused:
            self._pause.refused(refused)
        else:
            self._pause.succeeded()
            self._troubles.settle(attempts.key)
            self._started(following, None)

    async def _create(self, identity: Identity, lane: Lane, text: str) -> Job:
        """Of an item that is too large, one that says so. Raises ForeignJob, Refused."""
        version = identity.version if self._settings.rework == "on_change" else ""
        while True:
            name = attempt_name(self._workflow, self._settings.queue, version, identity)
            try:
                return await self._store.create(
                    self._settings.queue, self._manifest(name, identity, lane, text), text
                )
            except AlreadyExists:
                existing = await self._store.get(self._settings.queue, name)
            if existing is None:
                raise Refused(f"the Job {name} was there and is gone")
            if (existing.name, existing.round, existing.attempt) != (
                identity.name,
                identity.round,
                identity.attempt,
            ):
                raise ForeignJob(f"the Job {name} is of another item, {existing.name}")
            if not existing.deleting:
                return await self._whole(existing, text)
            identity = replace(identity, attempt=identity.attempt + 1)

    def _manifest(self, name: str, identity: Identity, lane: Lane, text: str) -> dict[str, Any]:
        template = self._templates[self._rollout.template(lane.name)]
        queue = self._settings.queue
        try:
            return job_manifest(template, self._owner, self._workflow, queue, lane, name, identity, text)
        except ItemTooLarge as error:
            return held_job(self._owner, self._workflow, queue, name, identity, None, str(error), lane)

    async def _whole(self, job: Job, text: str) -> Job:
        """A Job that was there, with its item's data. Raises Refused."""
        if job.content != "absent" or job.held:
            return job
        try:
            return await self._store.complete(job, text)
        except (LookupError, ItemTooLarge) as error:
            raise Refused(str(error)) from None

    def _defer(self, key: bytes, offer: Offer, reason: str, kind: Kind) -> None:
        if not offer.withdrawn:
            self._troubles.note(key, offer.delivery.name, reason, kind)
            self._deferred[key] = offer
