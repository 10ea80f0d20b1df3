"""What a queue looks after: attempts that don't end by themselves, and templates that nothing uses."""

from wqc.runtime.lanes.rollout import Rollout
from wqc.runtime.queue.book import Attempts, Book
from wqc.runtime.queue.overdue import Overdue
from wqc.runtime.queue.starter import Starter
from wqc.runtime.queue.templates import Templates
from wqc.runtime.stores.store import JobStore


class Upkeep:
    def __init__(
        self,
        book: Book,
        store: JobStore,
        starter: Starter,
        overdue: Overdue,
        templates: Templates,
        rollout: Rollout,
    ) -> None:
        self._book = book
        self._store = store
        self._starter = starter
        self._overdue = overdue
        self._templates = templates
        self._rollout = rollout
        self._given_up: set[str] = set()
        """Jobs that will end without ever having started."""

    async def run(self) -> list[Attempts]:
        """What is to be judged anew. Raises Refused."""
        hindered = [attempts.latest for attempts in self._book.under_way.hindered()]
        self._given_up &= {job.job for job in hindered}
        for job in hindered:
            # it waits for something misspelt, say, that was put right since
            if job.job not in self._given_up and self._starter.is_mended(job):
                await self._store.give_up(job)
                self._given_up.add(job.job)
        if self._templates.older:
            under_way = {attempts.latest.template for attempts in self._book.at("active")}
            await self._templates.forget_unused(under_way | self._rollout.used)
        return await self._overdue.supersede()
