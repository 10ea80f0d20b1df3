"""What a Job doesn't say itself is asked for, of each Job apart: while the server refuses, others go on."""

import asyncio
from collections.abc import Awaitable, Callable

from wqc.runtime.stores.kubernetes.objects import JobObject
from wqc.runtime.stores.store import Refused

AT_ONCE = 4
LONGEST_PAUSE = 30.0


class Lookups:
    """`ask` raises Refused. `answered` is told of the Job when that has said all, `ended` of each task."""

    def __init__(
        self,
        ask: Callable[[JobObject], Awaitable[None]],
        answered: Callable[[JobObject], None],
        ended: Callable[[asyncio.Task[None]], None],
    ) -> None:
        self._ask = ask
        self._answered = answered
        self._ended = ended
        self._jobs: dict[str, JobObject] = {}
        """Those that are asked about, as they were told last."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)

    def begin(self, job: JobObject) -> None:
        name = job.metadata.name
        self._jobs[name] = job
        if name not in self._tasks:
            task = self._tasks[name] = asyncio.create_task(self._look_up(name))
            task.add_done_callback(self._ended)

    def drop(self, name: str) -> None:
        """It is gone, or there is nothing to ask any more."""
        self._jobs.pop(name, None)

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _look_up(self, name: str) -> None:
        pause = 1.0
        try:
            while job := self._jobs.get(name):
                try:
                    async with self._slots:
                        await self._ask(job)
                except Refused as refused:
                    await asyncio.sleep(refused.retry_after or pause)
                    pause = min(pause * 2, LONGEST_PAUSE)
                else:
                    if self._jobs.get(name) is job:
                        del self._jobs[name]
                        self._answered(job)
        finally:
            del self._tasks[name]
