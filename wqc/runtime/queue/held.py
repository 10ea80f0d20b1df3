"""Items that failed for good: each is held by its last Job until a person decides."""

import time
from collections.abc import Callable, Collection

from wqc.runtime.manager.status import NAME_SHOWN, REASON_SHOWN, Failure
from wqc.runtime.queue.book import Attempts, Book, Stage
from wqc.runtime.queue.ledger import Ledger
from wqc.runtime.text import one_line

MESSAGE_SHOWN = 400
"""Characters of a failed worker's message."""


class Held:
    """`renew` begins another try at an item. `changed` is called when there is something to do."""

    def __init__(
        self, book: Book, ledger: Ledger, renew: Callable[[Attempts], None], changed: Callable[[], None]
    ) -> None:
        self._book = book
        self._ledger = ledger
        self._renew = renew
        self._changed = changed
        self._tried: dict[str, set[str]] = {}
        """By request that isn't done, the Jobs whose items were tried again; a crash may repeat that."""

    def find(self, items: Collection[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The Jobs that hold these items (None: all), and the items that aren't held.

        An item is called by its name, or if none has that, by what people see of one.
        """
        dead = [each.latest for each in self._book.at("dead")]
        if items is None:
            return tuple(job.job for job in dead), ()
        asked = set(items)
        wanted = asked - {job.name for job in dead}
        seen = {job.name: one_line(job.name) for job in dead}
        found = [job for job in dead if job.name in asked or seen[job.name] in wanted]
        met = {each for job in found for each in (job.name, seen[job.name])}
        return tuple(job.job for job in found), tuple(item for item in items if item not in met)

    def retry(self, request: str, jobs: Collection[str]) -> int:
        """Try the items of these Jobs again, once a request; for how many the Job must still be there."""
        tried = self._tried.setdefault(request, set())
        for attempts in self._of(jobs, "dead"):
            if attempts.latest.job not in tried:
                tried.add(attempts.latest.job)
                self._renew(attempts)
                self._changed()
        left = len(self._of(jobs, "retry", "handing", "recording"))
        if not left:
            del self._tried[request]
        return left

    def discard(self, jobs: Collection[str]) -> int:
        """Record the items of these Jobs as they are; how many aren't recorded yet."""
        for attempts in self._of(jobs, "dead"):
            self._ledger.add(attempts.key, time.monotonic())
            self._book.move(attempts, "recording")
            self._changed()
        return len(self._of(jobs, "recording"))

    def _of(self, jobs: Collection[str], *stages: Stage) -> list[Attempts]:
        asked = set(jobs)
        found = [attempts for stage in stages for attempts in self._book.at(stage)]
        return [attempts for attempts in found if attempts.latest.job in asked]


def failure(attempts: Attempts) -> Failure:
    """What people see of a held item."""
    job = attempts.latest
    reason, message = attempts.reason[:REASON_SHOWN], (job.message or "")[-MESSAGE_SHOWN:]
    return Failure(job.name[:NAME_SHOWN], reason, job.job, message)
