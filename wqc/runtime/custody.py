"""When the origin of an item may let go of it: once what the queue has is enough (promise 2)."""

from wqc.runtime.book import Book
from wqc.runtime.ledger import Ledger
from wqc.runtime.origin import Offer


class Custody:
    """The offers of items that a queue has."""

    def __init__(self, book: Book, ledger: Ledger) -> None:
        self._book = book
        self._ledger = ledger
        self._kept: dict[bytes, list[Offer]] = {}
        """Offers that aren't taken yet, since their origins must keep the items."""

    def has(self, key: bytes, offer: Offer) -> None:
        """The queue has the item of this offer."""
        self._kept.setdefault(key, []).append(offer)
        self.review(key)

    def review(self, key: bytes) -> None:
        """What the queue has of the item has changed."""
        for offer in self._kept.pop(key, ()):
            if self._is_enough(key):
                offer.take()
            elif not offer.withdrawn:
                self._kept.setdefault(key, []).append(offer)

    def _is_enough(self, key: bytes) -> bool:
        return key in self._ledger or key in self._book
