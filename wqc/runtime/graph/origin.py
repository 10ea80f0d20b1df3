"""Who holds an item on its way through the graph, until everyone that it goes to has it (promise 2)."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from wqc.runtime.graph.graph import Delivery


@dataclass(eq=False, slots=True)
class Origin:
    """An item in a source's listing, or in a finished Job."""

    fetch: Callable[[], Awaitable[str]]
    """The item's data as JSON. Raises SourceError."""
    is_open: Callable[[], bool]
    """False while it isn't known whether the item is still there: then nothing is started (promise 5)."""
    complete: Callable[[], None]
    """Called once, when every reader has the item."""
    is_backlog: bool = False
    """It was there before anybody looked, so it says nothing about how often items arrive."""
    until_done: bool = False
    """It keeps the item until it is recorded, or failed for good: that a Job has it isn't enough."""
    until_told: bool = False
    """The source keeps it until it is told that others have it."""
    is_dropped: bool = False
    """Nobody gets it; that is to be recorded."""
    left: int = 0
    offers: list["Offer"] = field(default_factory=list)

    @property
    def is_stuck(self) -> bool:
        """Only a person can say what becomes of it: whoever doesn't have it can't."""
        return self.left > 0 and all(offer.taken or offer.stuck for offer in self.offers)

    def settle(self) -> None:
        if self.left == 0:
            self.offers.clear()
            self.complete()

    def withdraw(self) -> None:
        """It isn't listed any more: who hasn't started it doesn't."""
        for offer in self.offers:
            offer.withdrawn = True


@dataclass(eq=False, slots=True)
class Offer:
    """An item on its way to one queue, or to the holder of a node's failed items."""

    delivery: Delivery
    origin: Origin
    withdrawn: bool = False
    taken: bool = False
    stuck: bool = False
    """The item failed for good there, and nobody but the origin has its data, which is too large."""
    since: float = field(default_factory=time.monotonic)
    """When it came, on the monotonic clock."""

    async def text(self) -> str:
        """The data as JSON. Raises SourceError."""
        return self.delivery.text if self.delivery.text is not None else await self.origin.fetch()

    def take(self) -> None:
        """The queue has it."""
        if not self.taken:
            self.taken = True
            self.origin.left -= 1
            self.origin.settle()
