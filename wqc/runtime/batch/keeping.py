"""A sign of life now and then, while a message is worked on."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from wqc.runtime.logs import log
from wqc.runtime.sources.source import SourceError


class Keeping:
    def __init__(self, every: float) -> None:
        """`every`: seconds."""
        self._every = every
        self._task: asyncio.Task[None] | None = None

    def start(self, renew: Callable[[], Awaitable[object]]) -> None:
        """For one message at a time. What `renew` raises is tried again."""
        self.stop()
        self._task = asyncio.create_task(self._keep(renew))

    def stop(self) -> None:
        if self._task:
            self._task.cancel()
            self._task = None

    async def _keep(self, renew: Callable[[], Awaitable[object]]) -> None:
        while True:
            await asyncio.sleep(self._every)
            try:
                await renew()
            except SourceError as error:
                log(logging.WARNING, "the message that is worked on may go to another", reason=str(error))
