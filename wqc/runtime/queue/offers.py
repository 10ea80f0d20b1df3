"""The offers that wait at a station whose items have no Jobs."""

from collections.abc import Iterator

from wqc.runtime.graph.origin import Offer
from wqc.runtime.queue.ledger import Ledger


class Offers:
    """By the item's key; an item has more than one where two streams bring it."""

    def __init__(self) -> None:
        self._offers: dict[bytes, list[Offer]] = {}

    def __len__(self) -> int:
        """How many items."""
        return len(self._offers)

    def __contains__(self, key: object) -> bool:
        """An offer of the item waits."""
        return key in self._offers

    def items(self) -> Iterator[tuple[bytes, Offer]]:
        """Each item with the first offer of it."""
        return ((key, offers[0]) for key, offers in self._offers.items())

    def add(self, key: bytes, offer: Offer) -> None:
        self._offers.setdefault(key, []).append(offer)

    def withdraw(self, key: bytes, offer: Offer) -> bool:
        """Whether none of the item is left."""
        left = [each for each in self._offers.pop(key, ()) if each is not offer]
        if left:
            self._offers[key] = left
        return not left

    def take(self, key: bytes) -> None:
        for offer in self._offers.pop(key, ()):
            offer.take()

    def take_recorded(self, ledger: Ledger) -> None:
        for key in [key for key in self._offers if key in ledger]:
            self.take(key)
