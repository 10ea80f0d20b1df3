"""From a thread to a task: what has come meanwhile is taken all at once, and the task is woken once."""

import asyncio
import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Handover(Generic[T]):
    """Made, and taken from, on the event loop. Waking that for each thing costs more than most things do."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._things: list[T] = []
        self._come = asyncio.Event()

    def put(self, thing: T) -> None:
        """From any thread. Raises RuntimeError once the loop is closed."""
        with self._lock:
            self._things.append(thing)
            is_first = len(self._things) == 1
        if is_first:
            self._loop.call_soon_threadsafe(self._come.set)

    async def take(self) -> list[T]:
        """Everything that has come, in order; waits until something has."""
        while True:
            await self._come.wait()
            self._come.clear()
            with self._lock:
                things, self._things = self._things, []
            if things:
                return things
