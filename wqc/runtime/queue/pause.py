"""When the store said no: how long to leave it alone, and what it said."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from wqc.runtime.logs import log
from wqc.runtime.periods import Periods
from wqc.runtime.stores.store import Refused

T = TypeVar("T")


class Pause:
    """Backs off while refusals go on; one success ends it. `saying`: what the log then says."""

    def __init__(self, queue: str, periods: Periods, saying: str = "refused") -> None:
        self._queue = queue
        self._periods = periods
        self._saying = saying
        self._times = 0
        self.reason = ""
        self.until = 0.0
        """On the monotonic clock."""

    @property
    def over(self) -> bool:
        return self.until <= time.monotonic()

    def refused(self, refused: Refused) -> None:
        if self.over:  # of many requests under way at once, one says it for all
            self._times += 1
        pause = refused.retry_after
        if pause is None:
            pause = min(self._periods.refused * 2.0 ** min(self._times - 1, 32), self._periods.refused_limit)
        self.until = max(self.until, time.monotonic() + pause)
        if self.reason != str(refused):
            log(logging.WARNING, self._saying, queue=self._queue, reason=str(refused), pause=pause)
        self.reason = str(refused)

    def succeeded(self) -> None:
        self._times = 0
        self.reason = ""


async def patiently(name: str, ask: Callable[[], Awaitable[T]], periods: Periods) -> T:
    """Until the store no longer says no. `name`: for whom, in the log."""
    pause = Pause(name, periods)
    while True:
        try:
            return await ask()
        except Refused as refused:
            pause.refused(refused)
            await asyncio.sleep(max(0.0, pause.until - time.monotonic()))
