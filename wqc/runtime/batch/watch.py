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
            count = await queue.count()
            text, reason = f"{count.left} messages are left", ""
            if ends.is_final(count, time.monotonic()):
                log(logging.INFO, "nothing is left")
                return
        except SourceError as error:
            ends.unknown()
            text, reason = "nobody knows how many messages are left", str(error)
        if text + reason != said:
            log(logging.ERROR if reason else logging.INFO, text, **({"reason": reason} if reason else {}))
        said = text + reason
        await pause(worker, every)
