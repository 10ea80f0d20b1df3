"""Items' data on its way from their sources: what takes long keeps nothing else waiting."""

import asyncio
from collections import Counter
from collections.abc import Callable

from wqc.runtime.graph.origin import Offer
from wqc.runtime.lanes.inbox import AT_ONCE

SOON = 1.0
"""Seconds that the others of a batch wait for one."""
BRIEFLY = 0.1
"""As many while another of its line takes long already: it may be the source."""

Inputs = tuple[str, ...]
"""See Delivery."""


class Fetching:
    """`arrived` is called when what took long is there."""

    def __init__(self, arrived: Callable[[], None]) -> None:
        self._arrived = arrived
        self._late: dict[bytes, asyncio.Task[str]] = {}
        self._under_way: Counter[Inputs] = Counter()

    async def text(self, key: bytes, offer: Offer) -> str | None:
        """The item's data as JSON; None if it isn't there soon: it is there for who asks again once it has
        arrived. Raises SourceError.
        """
        task = self._late.pop(key, None) or asyncio.create_task(offer.text())
        inputs = offer.delivery.inputs
        await asyncio.wait({task}, timeout=BRIEFLY if self._under_way[inputs] else SOON)
        if task.done():
            return task.result()
        if offer.withdrawn:
            task.cancel()
            return None
        self._late[key] = task
        self._under_way[inputs] += 1

        def end(_: asyncio.Task[str]) -> None:
            self._under_way[inputs] -= 1
            if not task.cancelled():
                task.exception()  # seen: perhaps nobody asks again
            self._arrived()

        task.add_done_callback(end)
        return None

    def holds_up(self, key: bytes, offer: Offer) -> bool:
        """There is no use in asking for it now."""
        late = self._late.get(key)
        if late:
            return not late.done()
        return offer.delivery.text is None and self._under_way[offer.delivery.inputs] >= AT_ONCE

    def drop(self, key: bytes) -> None:
        """Nobody asks again."""
        late = self._late.pop(key, None)
        if late:
            late.cancel()
