"""`wqc-runtime batch SOURCE`: the sidecar in a batch's pods, until it is told to stop."""

import argparse
import asyncio
import logging
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from wqc.contract.pod import BATCH_FOLDER, SETTINGS_FOLDER
from wqc.runtime.batch.emptiness import Emptiness
from wqc.runtime.batch.listener import Serve, listen
from wqc.runtime.batch.messages import MessageQueue
from wqc.runtime.batch.opening import open_queue
from wqc.runtime.batch.shift import Rules, Shift
from wqc.runtime.batch.watch import watch
from wqc.runtime.batch.worker import Worker
from wqc.runtime.logs import log
from wqc.runtime.periods import Periods, periods_from
from wqc.runtime.settings import read_source_settings
from wqc.runtime.sources.source import SourceError

INDEX = "JOB_COMPLETION_INDEX"
"""In the environment of an Indexed Job's containers."""
PATIENCE = 5.0
"""Seconds for giving back what is held."""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    text = "hand a broker's messages to the worker beside it"
    parser = commands.add_parser(
        "batch", help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False
    )
    parser.add_argument("--kind", choices=["coarse", "fine"], required=True, help="one message a pod, or all")
    parser.add_argument("--retries", type=int, required=True, help="further attempts at one that failed")
    parser.add_argument(
        "--wait", type=float, default=0.0, help="seconds after which an empty queue is empty for good"
    )
    parser.add_argument("source", metavar="SOURCE", help="its settings are in a folder of its name")
    parser.set_defaults(run=lambda arguments: asyncio.run(_run(arguments, os.environ)))


async def _run(arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
    """Raises OSError, ValueError for settings that can't be."""
    periods = periods_from()
    folder = Path(environment.get("WQC_SETTINGS", SETTINGS_FOLDER))
    settings = read_source_settings((folder / arguments.source / "source.yaml").read_text())
    try:
        queue, format = open_queue(settings, periods)
    except SourceError as error:
        raise ValueError(str(error)) from None
    rules = Rules(arguments.kind, arguments.retries, format)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    try:
        if await _reachable(queue, periods, stop):
            serve = _serve(queue, rules, periods, arguments.wait, environment.get(INDEX))
            socket = Path(environment.get("WQC_BATCH", BATCH_FOLDER)) / "socket"
            listener = await listen(socket, serve)
            await stop.wait()
            await listener.close(PATIENCE)
    finally:
        await queue.close()


async def _reachable(queue: MessageQueue, periods: Periods, stop: asyncio.Event) -> bool:
    """Waits for the broker: once this listens, the worker's container is started. False if told to stop."""
    said = ""
    while not stop.is_set():
        try:
            await queue.open()
            return True
        except SourceError as error:
            if str(error) != said:
                log(logging.ERROR, "the worker waits for the broker", reason=str(error))
            said = str(error)
        with suppress(TimeoutError):
            async with asyncio.timeout(periods.retry_listing):
                await stop.wait()
    return False


def _serve(queue: MessageQueue, rules: Rules, periods: Periods, wait: float, index: str | None) -> Serve:
    now = time.monotonic()
    if index == "0":
        ends = Emptiness(wait, periods.empty, now)

        async def measure(worker: Worker) -> bool:
            await watch(queue, ends, periods.look, worker)
            return False

        return measure
    # the pods of a measured batch wait until its Job is done, the others for what they are told
    alone = rules.kind == "fine" and index is None
    return Shift(queue, rules, periods, Emptiness(wait, periods.empty, now) if alone else None).work_off_one
