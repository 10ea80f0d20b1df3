"""One worker works off messages: take, work, repeat what fails, acknowledge."""

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from wqc.runtime.batch.emptiness import Emptiness
from wqc.runtime.batch.item import item_of
from wqc.runtime.batch.messages import Count, Failure, Lost, Message, MessageQueue
from wqc.runtime.batch.worker import Gone, Worker, pause
from wqc.runtime.logs import log
from wqc.runtime.periods import Periods
from wqc.runtime.sources.source import SourceError

DEATHS = 3
"""From so many dead pods a message may come back at least: it needn't be what they died of."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`format` is that of the messages' bodies."""

    kind: Literal["coarse", "fine"]
    retries: int
    format: str


class Shift:
    """`ends`: when a worker that finds nothing has nothing to wait for; None: it waits until it is ended."""

    def __init__(
        self, queue: MessageQueue, rules: Rules, periods: Periods, ends: Emptiness | None = None
    ) -> None:
        self._queue = queue
        self._rules = rules
        self._periods = periods
        self._ends = ends
        self.done = 0
        self.failed = 0

    async def work_off_one(self, worker: Worker) -> bool:
        """Whether there is more to do for this worker. Raises Gone, having given back what it had."""
        message = await self._take(worker)
        if message is None:
            return False
        try:
            failure = await self._work(worker, message)
        except Gone:
            with suppress(SourceError):  # then the broker delivers it again by itself
                await self._queue.give_back(message)
            raise
        settled = await self._settle(message, failure)
        return not (settled and self._rules.kind == "coarse")

    async def _take(self, worker: Worker) -> Message | None:
        trouble = ""
        while not worker.gone.is_set():
            try:
                message = await self._queue.take()
                if trouble:
                    log(logging.INFO, "the broker can be reached again")
                trouble = ""
            except SourceError as error:
                if str(error) != trouble:
                    log(logging.ERROR, "no message can be taken", reason=str(error))
                trouble = str(error)
                if self._ends:
                    self._ends.unknown()
            else:
                if message or self._is_over():
                    return message
            await pause(worker, self._periods.take)
        raise Gone

    def _is_over(self) -> bool:
        return self._ends is not None and self._ends.is_final(Count(0), time.monotonic())

    async def _work(self, worker: Worker, message: Message) -> Failure | None:
        """None if the work was done."""
        if self._ends:
            self._ends.seen()
        attempts = self._rules.retries + 1
        if message.deliveries > max(self._rules.retries, DEATHS) + 1:
            reason = (
                f"it was delivered {message.deliveries} times, and nobody who had it lived to say how it went"
            )
            return Failure(reason, message.deliveries - 1)
        try:
            item = item_of(message.body, self._rules.format)
        except ValueError as error:
            return Failure(str(error), 0)
        for attempt in range(1, attempts + 1):
            report = await worker.work(item)
            if report.exit == 0:
                return None
            reason = "it took too long" if report.timed_out else f"exit code {report.exit}"
            failure = Failure(reason, attempt, report.exit, report.message)
            log(
                logging.WARNING,
                "an attempt failed",
                item=message.name,
                reason=reason,
                attempt=attempt,
                message=report.message,
            )
            if attempt < attempts:
                await pause(worker, self._periods.backoff_after(attempt))
        return failure

    async def _settle(self, message: Message, failure: Failure | None) -> bool:
        """Whether the broker knows: otherwise it delivers the message again, here or elsewhere."""
        try:
            if failure is None:
                await self._queue.acknowledge(message)
                self.done += 1
            else:
                await self._queue.fail(message, failure)
                self.failed += 1
                reason, attempts = failure.reason, failure.attempts
                log(
                    logging.ERROR, "a message has failed", item=message.name, reason=reason, attempts=attempts
                )
        except SourceError as error:
            what = "done" if failure is None else "given up"
            text = "lost" if isinstance(error, Lost) else "not acknowledged"
            log(logging.ERROR, f"a message that was {what} is {text}", item=message.name, reason=str(error))
            return False
        return True
