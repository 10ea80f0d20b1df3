"""Blocking calls beside the event loop."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """As asyncio.to_thread, but in a daemon thread of its own.

    A call that hangs (a share whose server is gone) then holds up neither other calls nor the end of the
    process.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if outcome.done():
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(value)  # type: ignore[arg-type]  # there is a value where there is no error

    def call() -> None:
        value: T | None = None
        error: BaseException | None = None
        try:
            value = work()
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=call, daemon=True).start()
    return await outcome
