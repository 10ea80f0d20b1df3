"""Where the manager takes people's requests: pauses at once, the others each exactly once."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace

from wqc.runtime.logs import log
from wqc.runtime.manager.requests import KEPT, Request, encode_request, is_paused, renamed, requests
from wqc.runtime.periods import Periods
from wqc.runtime.queue.held import Held
from wqc.runtime.queue.holder import Holder
from wqc.runtime.queue.pause import Pause
from wqc.runtime.queue.queue import Queue
from wqc.runtime.stores.state import Conflict, State, StateStore, Unread
from wqc.runtime.stores.store import Refused
from wqc.runtime.waiting import until_set

LOOK = 0.5
"""Seconds between two looks at how far the open requests are."""


class Desk:
    def __init__(
        self,
        store: StateStore,
        queues: Mapping[str, Queue],
        holders: Mapping[str, Holder],
        periods: Periods,
    ) -> None:
        self._store = store
        self._queues = queues
        self._holders = holders
        self._state = State()
        self._unread = ""
        """Why the store can't be read."""
        self._renamed: dict[str, str | None] = {}
        """What the store still says of queues by their former names."""
        self._begun: set[str] = set()
        """Requests whose queues know of them."""
        self._changed = asyncio.Event()
        self._pause = Pause("", periods)
        self.opened = asyncio.Event()
        """It is known which queues are paused, and what the store says of each is under its name of now."""

    @property
    def entries(self) -> Mapping[str, str]:
        """The state's, as they were seen last."""
        return self._state.entries

    @property
    def problem(self) -> str:
        """Why what people ask isn't heard, for people."""
        if self._unread:
            return f"the workflow's state can't be read: {self._unread}"
        return f"the workflow's state can't be written: {self._pause.reason}" if self._pause.reason else ""

    @property
    def settled(self) -> bool:
        """Nothing is left of what was asked."""
        return all(each and each.done for each in requests(self.entries).values())

    @property
    def rests(self) -> bool:
        """What is left of what was asked is up to the queues."""
        open_ones = requests(self.entries).items()
        return all(each and (each.done or key in self._begun) for key, each in open_ones)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow())
            tasks.create_task(self._work())

    async def _follow(self) -> None:
        async for state in self._store.changes():
            if isinstance(state, Unread):
                self._unread = state.reason
                log(logging.WARNING, "the workflow's state can't be read", reason=state.reason)
                continue
            self._unread = ""
            names = {queue.formerly: name for name, queue in self._queues.items() if queue.formerly}
            self._renamed = renamed(state.entries, names)
            changed = {**state.entries, **self._renamed}
            entries = {key: text for key, text in changed.items() if text is not None}
            self._state = State(entries, state.version)
            for name, queue in self._queues.items():
                queue.pause(is_paused(entries, name))
            self._changed.set()
            if not self._renamed:
                self.opened.set()

    async def _work(self) -> None:
        while True:
            await until_set(self._changed, LOOK if self._renamed or not self.settled else None)
            self._changed.clear()
            await self._rename()
            for key, request in requests(self._state.entries).items():
                if not self._pause.over:
                    break
                try:
                    await self._advance(key, request)
                    self._pause.succeeded()
                except Refused as refused:
                    self._pause.refused(refused)
                except Conflict:
                    break  # what changed is on its way here

    async def _rename(self) -> None:
        if self._renamed and self._pause.over:
            try:
                await self._write(self._renamed)
                self._renamed = {}
                self._pause.succeeded()
                self.opened.set()
            except Refused as refused:
                self._pause.refused(refused)
            except Conflict:
                pass  # what changed is on its way here

    async def _advance(self, key: str, request: Request | None) -> None:
        if request is None:
            log(logging.WARNING, "a request can't be read and is dropped", request=key)
            await self._write({key: None})
        elif not request.done:
            station = self._queues.get(request.queue) or self._holders.get(request.queue)
            if station is None:
                why = f"nothing to {request.action}: the workflow has no such queue any more"
                log(logging.WARNING, why, queue=request.queue)
                await self._finish(key, replace(request, jobs=(), missing=request.items or ()))
            elif station.has_judged:
                await self._carry_out(key, request, station.held)

    async def _carry_out(self, key: str, request: Request, held: Held) -> None:
        if request.jobs is None:
            jobs, missing = held.find(request.items)
            request = replace(request, jobs=jobs, missing=missing)
            await self._write({key: encode_request(request)})
        jobs = request.jobs or ()
        left = held.retry(key, jobs) if request.action == "retry" else held.discard(jobs)
        self._begun.add(key)
        if not left:
            await self._finish(key, request)
            self._begun.discard(key)

    async def _finish(self, key: str, request: Request) -> None:
        count = len(request.jobs or ())
        done = [each for each, other in requests(self._state.entries).items() if other and other.done]
        old: dict[str, str | None] = dict.fromkeys(done[: max(0, len(done) + 1 - KEPT)])
        finished = replace(request, items=None, jobs=(), count=count, done=True)
        await self._write({**old, key: encode_request(finished)})
        log(logging.INFO, f"{request.action} is done", queue=request.queue, items=count)
        for item in request.missing:  # whoever asked may have asked before a manager ran
            log(
                logging.WARNING,
                f"nothing to {request.action}: no failed item",
                queue=request.queue,
                item=item,
            )

    async def _write(self, changes: Mapping[str, str | None]) -> None:
        self._state = await self._store.write(changes, self._state.version)
