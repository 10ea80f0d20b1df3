"""The processes of one Job: started, found again after a restart of the manager, ended."""

import asyncio
import contextlib
import fcntl
import os
import signal

from wqc.runtime.stores.local.jobfolder import JobFolder

GRACE = 5.0
"""Seconds between asking a worker to end and ending it."""
POLL = 0.1


async def start(folder: JobFolder) -> asyncio.subprocess.Process:
    """Raises OSError."""
    folder.work.mkdir(exist_ok=True)
    lock = os.open(folder.lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with folder.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                "sh", str(folder.script), stdin=lock, stdout=log, stderr=log, start_new_session=True
            )
    finally:
        os.close(lock)


def was_started(folder: JobFolder) -> bool:
    return folder.lock.exists()


def runs(folder: JobFolder) -> bool:
    """Whether the script still holds its lock."""
    try:
        lock = os.open(folder.lock, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


async def ended(folder: JobFolder, process: asyncio.subprocess.Process | None) -> None:
    """Wait until it has; `process` is None for one that an earlier manager started."""
    if process:
        await process.wait()
    while runs(folder):
        await asyncio.sleep(POLL)


async def end(folder: JobFolder, process: asyncio.subprocess.Process | None) -> None:
    """End all its processes: politely, and after GRACE by force."""
    group = group_of(folder, process)
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal(group, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await ended(folder, process)
            break
    # the group's leader is gone; whoever of the group ignored the request isn't
    end_at_once(group)


def group_of(folder: JobFolder, process: asyncio.subprocess.Process | None) -> int | None:
    """The process group of a script that runs; None if it doesn't, or nobody knows."""
    if process:
        return process.pid
    if not runs(folder):
        return None
    try:
        return int(folder.pid.read_text())
    except (FileNotFoundError, ValueError):
        return None


def end_at_once(group: int | None) -> None:
    """Whatever is left of it: a container's processes end with its first one too."""
    _signal(group, signal.SIGKILL)


def _signal(group: int | None, number: int) -> None:
    if group is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
