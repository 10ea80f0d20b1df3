"""Keeps a book as the store says which Jobs there are; what has changed waits to be judged."""

from collections.abc import Callable, Container, Iterator

from wqc.runtime.queue.book import Attempts, Book
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.store import Changed, Gone, Listed


class Bookkeeper:
    """`key`: what an item is recorded as. `has_job` is told of each item that has a Job."""

    def __init__(
        self,
        book: Book,
        recorded: Container[bytes],
        key: Callable[[str, str], bytes],
        has_job: Callable[[Attempts], None],
    ) -> None:
        self._book = book
        self._recorded = recorded
        self._key = key
        self._has_job = has_job
        self._changed: dict[bytes, None] = {}
        self.sure = False
        """The book is what there is; else nothing may be started (promise 5)."""

    @property
    def has_judged(self) -> bool:
        """Nothing waits to be judged, or to be told what there is to judge."""
        return not self._changed and not any(each.latest.unclear for each in self._book.at("active"))

    def learn(self, change: Listed | Changed | Gone) -> None:
        match change:
            case Listed(jobs):
                listed = {job.job for job in jobs}
                for name in self._book.job_names():
                    if name not in listed:
                        self._forget(name)
                for job in jobs:
                    self.note(job)
                self.sure = True
            case Changed(job):
                self.note(job)
            case Gone(name):
                self._forget(name)

    def note(self, job: Job) -> Attempts:
        """The Job exists, in this state."""
        key = self._key(job.name, job.version)
        attempts = self._book.note(key, job)
        self._changed[key] = None
        self._has_job(attempts)
        return attempts

    def changed(self) -> Iterator[Attempts]:
        """What is to be judged, each once."""
        while self._changed:
            key = next(iter(self._changed))
            del self._changed[key]
            attempts = self._book.get(key)
            if attempts:
                yield attempts

    def again(self, attempts: Attempts) -> None:
        """It could not be judged."""
        self._changed[attempts.key] = None

    def _forget(self, job: str) -> None:
        key = self._book.forget(job, self._recorded)
        if key:
            self._changed[key] = None
