"""The index of a measured batch that runs no worker: it ends when nothing is left, and the Job with it."""

import logging
import time

from wqc.runtime.batch.emptiness import Emptiness
from wqc.runtime.batch.messages import MessageQueue
from wqc.runtime.batch.worker import Worker, pause
from wqc.runtime.logs import log
from wqc.runtime.sources.source import SourceError


async def watch(queue: MessageQueue, ends: Emptiness, every: float, worker: Worker) -> None:
    """Looks each `every` seconds, until the queue is empty for good. Raises Gone."""
    said = ""
    while True:
        try:
            remaining = await queue.remaining()
            text, reason = f"{remaining} messages are left", ""
            if ends.is_final(remaining, time.monotonic()):
                log(logging.INFO, "nothing is left")
                return
        except SourceError as error:
            ends.unknown()
            text, reason = "nobody knows how many messages are left", str(error)
        if text + reason != said:
            log(logging.ERROR if reason else logging.INFO, text, **({"reason": reason} if reason else {}))
        said = text + reason
        await pause(worker, every)
