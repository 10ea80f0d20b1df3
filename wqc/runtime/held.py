"""A queue's items that failed for good: each is held by its last Job until a person decides."""

import time
from collections.abc import Callable, Collection

from wqc.runtime.book import Attempts, Book
from wqc.runtime.ledger import Ledger


class Held:
    """`changed` is called when there is something to do."""

    def __init__(self, book: Book, ledger: Ledger, changed: Callable[[], None]) -> None:
        self._book = book
        self._ledger = ledger
        self._changed = changed

    def find(self, items: Collection[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The Jobs that hold these items (None: all), and the items that aren't held."""
        dead = [each.latest for each in self._book.at("dead") if items is None or each.latest.name in items]
        names = {job.name for job in dead}
        return tuple(job.job for job in dead), tuple(item for item in items or () if item not in names)

    def retry(self, jobs: Collection[str]) -> int:
        """Begin a new round after each of these Jobs; how many have not begun yet."""
        for attempts in self._of(jobs, self._book.at("dead")):
            attempts.renewed = attempts.latest.job
            attempts.due = time.monotonic()
            self._book.move(attempts, "retry")
            self._changed()
        return len(self._of(jobs, self._book.at("retry")))

    def discard(self, jobs: Collection[str]) -> int:
        """Record the items of these Jobs as they are; how many aren't recorded yet."""
        for attempts in self._of(jobs, self._book.at("dead")):
            self._ledger.add(attempts.key, time.monotonic())
            self._book.move(attempts, "recording")
            self._changed()
        return len(self._of(jobs, self._book.at("recording")))

    def _of(self, jobs: Collection[str], among: list[Attempts]) -> list[Attempts]:
        return [attempts for attempts in among if attempts.latest.job in jobs]
