"""Jobs as processes on this machine. What is true is in the folder; what is in memory can be lost any time.

STATE/lock                one manager at a time
STATE/jobs/NAME/          one Job: see JobFolder; it appears whole, by a rename
STATE/ledger/QUEUE/NAME   a segment of a queue's ledger
STATE/failed/QUEUE/NAME   a segment of what failed of it, and a reader has
STATE/absent/QUEUE/NAME   a segment of what no source lists of it
STATE/templates/QUEUE/NAME   a Job template that the queue's Jobs or lanes have
"""

import asyncio
import contextlib
import errno
import fcntl
import json
import logging
import os
import shutil
import stat
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wqc.contract.limits import RESULT_BYTES
from wqc.contract.names import (
    ITEM_ANNOTATION,
    LANE_LABEL,
    LARGE,
    QUEUE_LABEL,
    REASON_ANNOTATION,
    TEMPLATE_LABEL,
)
from wqc.runtime.logs import log
from wqc.runtime.queue.attempt import FIELDS_FOLDER, ITEM_VOLUME, annotation_of, item_files, read_identity
from wqc.runtime.queue.largeitem import ITEM_FILE, file_names, large_files
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local import durable, process
from wqc.runtime.stores.local.jobfolder import JobFolder
from wqc.runtime.stores.local.script import NotRunnable, script
from wqc.runtime.stores.local.standins import NO_STAND_INS, StandIns
from wqc.runtime.stores.store import (
    AlreadyExists,
    Announcement,
    Change,
    Changed,
    ForeignJob,
    Gone,
    Kind,
    Listed,
    QueueFiles,
    Refused,
    Segment,
    Template,
)

OUTPUT_KEPT = 2048
"""Bytes of a failed worker's output that become its message."""
_NEW, _OLD = ".new-", ".old-"


class InUse(Exception):
    """Another manager works in the folder."""


class LocalStore:
    """Raises InUse, OSError."""

    def __init__(
        self, state: Path, files: Mapping[str, QueueFiles], stand_ins: StandIns = NO_STAND_INS
    ) -> None:
        self._jobs = (state / "jobs").absolute()
        self._state = state.absolute()
        self._templates = (state / "templates").absolute()
        self._heirs: dict[str, str] = {}
        """By a queue's former name, its name."""
        self._files = files
        self._stand_ins = stand_ins
        self._changes: asyncio.Queue[Change] = asyncio.Queue()
        self._minders: dict[str, asyncio.Task[None]] = {}
        self._processes: dict[str, asyncio.subprocess.Process | None] = {}
        self._jobs.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(state / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise InUse(f"another manager works in {state}") from None

    async def files(self, queue: str) -> QueueFiles:
        return self._files[queue]

    async def holds(self, node: str) -> dict[str, Any]:
        return {"kind": "ConfigMap", "name": node, "uid": ""}

    async def take_over(self, queue: str, former: str) -> None:
        self._heirs[former] = queue

    async def changes(self) -> AsyncIterator[Change]:
        jobs: list[Job] = []
        for path in sorted(self._jobs.iterdir()):
            if path.name.startswith((_NEW, _OLD)):
                with contextlib.suppress(FileNotFoundError):  # a manager that ends is at it too
                    shutil.rmtree(path)
                continue
            if JobFolder(path).job.exists():  # else somebody took it away, and not all of it
                jobs.append(await self._resume(JobFolder(path)))
        yield Listed(tuple(jobs))
        while True:
            yield await self._changes.get()

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        name = manifest["metadata"]["name"]
        folder = JobFolder(self._jobs / name)
        if folder.path.exists():
            raise AlreadyExists(name)
        try:
            self._lay_out(folder, manifest, queue, data)
            return await self._begin(folder)
        except OSError as error:
            raise Refused(f"the Job can't be started here: {error.strerror}") from None
        except NotRunnable as error:
            raise Refused(f"the Job can't run here: {error}") from None

    async def complete(self, job: Job, data: str) -> Job:
        """A Job's folder appears with all that is in it: there is nothing to complete."""
        folder = JobFolder(self._jobs / job.job)
        if not folder.path.exists():
            raise LookupError(f"the Job {job.job} is gone")
        return self._read(folder, runs=job.job in self._minders)

    async def data(self, job: Job) -> str:
        try:
            return (JobFolder(self._jobs / job.job).item / ITEM_FILE).read_text()
        except FileNotFoundError:
            raise LookupError(f"the item of the Job {job.job} is gone") from None
        except OSError as error:
            raise Refused(f"the item of the Job {job.job} can't be read: {error.strerror}") from None

    async def get(self, queue: str, job: str) -> Job | None:
        folder = JobFolder(self._jobs / job)
        if not folder.path.exists():
            return None
        found = self._read(folder, runs=job in self._minders)
        if found.queue != queue:
            raise ForeignJob(f"the Job {job} is queue {found.queue}'s")
        return found

    async def supersede(self, job: Job) -> None:
        folder = JobFolder(self._jobs / job.job)
        if folder.path.exists():
            with _refusing("marked superseded"):
                durable.write(folder.superseded, b"")
            self._changes.put_nowait(Changed(replace(job, superseded=True)))

    async def give_up(self, job: Job) -> None:
        """Processes start at once or not at all: nothing here is ever in the way of one."""

    async def finish(self, job: Job, ttl: float) -> None:
        folder = JobFolder(self._jobs / job.job)
        if folder.path.exists():
            with _refusing("marked done"):
                durable.write(folder.done, str(time.time() + ttl).encode())
            self._mind(folder, self._expire(folder))
            self._changes.put_nowait(Changed(replace(job, done=True)))

    async def segments(self, queue: str, kind: Kind = "ledger") -> tuple[Segment, ...]:
        formers = [former for former, heir in self._heirs.items() if heir == queue]
        with _refusing("read"):
            return tuple(
                Segment(path.name, path.read_bytes())
                for name in (queue, *formers)
                for path in whole_files(self._state / kind / name)
            )

    async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
        with _refusing("recorded"):
            (self._state / kind / queue).mkdir(parents=True, exist_ok=True)
            durable.write(self._state / kind / queue / segment.name, segment.content)

    async def remove_segment(self, queue: str, name: str, kind: Kind = "ledger") -> None:
        with _refusing("recorded"):
            for each in (queue, *self._heirs):
                (self._state / kind / each / name).unlink(missing_ok=True)

    async def templates(self, queue: str) -> tuple[Template, ...]:
        with _refusing("read"):
            return tuple(
                Template(path.name, path.read_text()) for path in whole_files(self._templates / queue)
            )

    async def keep_template(self, queue: str, template: Template) -> None:
        with _refusing("kept"):
            (self._templates / queue).mkdir(parents=True, exist_ok=True)
            durable.write(self._templates / queue / template.digest, template.text.encode())

    async def forget_template(self, queue: str, digest: str) -> None:
        with _refusing("forgotten"):
            (self._templates / queue / digest).unlink(missing_ok=True)

    async def announce(self, queue: str, said: Announcement) -> None:
        """To the log: nobody but who runs it looks here."""
        log(logging.INFO, said.message, queue=queue, reason=said.reason)

    async def close(self) -> None:
        """End what runs; those attempts count as lost and are repeated by the next manager."""
        for task in self._minders.values():
            task.cancel()
        running = [JobFolder(self._jobs / name) for name in self._processes]
        await asyncio.gather(*(process.end(each, self._processes[each.path.name]) for each in running))
        os.close(self._lock)

    def end_at_once(self) -> None:
        """Leave what runs no time to end by itself."""
        for name, running in self._processes.items():
            process.end_at_once(process.group_of(JobFolder(self._jobs / name), running))

    # --- one Job ---

    def _lay_out(self, folder: JobFolder, manifest: dict[str, Any], queue: str, data: str) -> None:
        """Make the folder, so that it appears whole or not at all."""
        fresh = JobFolder(self._jobs / (_NEW + folder.path.name))
        shutil.rmtree(fresh.path, ignore_errors=True)
        try:
            for each in (fresh.item / FIELDS_FOLDER, fresh.steps, fresh.scratch):
                each.mkdir(parents=True)
            pod = manifest["spec"]["template"]["spec"]
            for path, text in _item_files(manifest, data).items():
                (fresh.item / path).write_bytes(text.encode())
            if not _is_held(manifest):
                fresh.script.write_text(script(pod, folder, queue, self._stand_ins))
            durable.write(fresh.job, json.dumps({"created": time.time(), "job": manifest}).encode())
            fresh.path.rename(folder.path)
            durable.sync_folder(self._jobs)
        except OSError:
            shutil.rmtree(fresh.path, ignore_errors=True)
            raise

    async def _begin(self, folder: JobFolder) -> Job:
        job = self._read(folder, runs=False)
        return job if job.held else await self._run(folder)

    async def _run(self, folder: JobFolder) -> Job:
        job = self._read(folder, runs=True)  # before the worker can take the folder away
        ends = self._ends(folder)
        self._processes[folder.path.name] = await process.start(folder)
        self._mind(folder, self._watch(folder, ends))
        return job

    async def _resume(self, folder: JobFolder) -> Job:
        if folder.done.exists():
            self._mind(folder, self._expire(folder))
        elif process.runs(folder):
            job = self._read(folder, runs=True)
            self._processes[folder.path.name] = None
            self._mind(folder, self._watch(folder, self._ends(folder)))
            return job
        elif not process.was_started(folder):
            return await self._begin(folder)
        job = self._read(folder, runs=False)
        return replace(job, cut_off=job.phase == "lost")

    def _read(self, folder: JobFolder, runs: bool) -> Job:
        job = read_job(folder, runs)
        return replace(job, queue=self._heirs.get(job.queue, job.queue))

    def _mind(self, folder: JobFolder, minder: Any) -> None:
        task = asyncio.create_task(minder)
        self._minders[folder.path.name] = task

    def _ends(self, folder: JobFolder) -> tuple[int | None, float]:
        """The seconds that it may take, and when they are over."""
        manifest = json.loads(folder.job.read_bytes())
        limit = manifest["job"]["spec"]["template"]["spec"].get("activeDeadlineSeconds")
        return limit, manifest["created"] + (limit or 0)

    async def _watch(self, folder: JobFolder, ends: tuple[int | None, float]) -> None:
        """Until it has ended, or its time is over."""
        name = folder.path.name
        running = self._processes[name]
        group = process.group_of(folder, running)
        limit, at = ends
        left = None if limit is None else max(0.0, at - time.time())
        try:
            async with asyncio.timeout(left):
                await process.ended(folder, running)
        except TimeoutError:
            if not folder.exit.exists():
                # where the disk is full the attempt counts as interrupted
                with contextlib.suppress(OSError):
                    folder.timed_out.write_text(str(limit))
                await process.end(folder, running)
        process.end_at_once(group)
        del self._processes[name]
        try:
            self._changes.put_nowait(Changed(self._read(folder, runs=False)))
        except FileNotFoundError:  # its folder was deleted by hand, or by the worker itself
            self._changes.put_nowait(Gone(name))

    async def _expire(self, folder: JobFolder) -> None:
        """Take away a Job that is done when its time has come."""
        await asyncio.sleep(max(0.0, float(folder.done.read_text()) - time.time()))
        old = self._jobs / (_OLD + folder.path.name)
        folder.path.rename(old)
        await asyncio.to_thread(shutil.rmtree, old)
        self._minders.pop(folder.path.name, None)
        self._changes.put_nowait(Gone(folder.path.name))


def read_job(folder: JobFolder, runs: bool) -> Job:
    """`runs`: its process does. Raises OSError, and ValueError and the like for what is damaged."""
    saved = json.loads(folder.job.read_bytes())
    metadata = saved["job"]["metadata"]
    identity = read_identity(metadata["annotations"][ITEM_ANNOTATION])
    data = saved["job"]["spec"]["template"]["metadata"].get("annotations", {}).get(ITEM_ANNOTATION, "")
    job = Job(
        job=metadata["name"],
        queue=metadata["labels"][QUEUE_LABEL],
        lane=metadata["labels"].get(LANE_LABEL, ""),
        name=identity.name,
        version=identity.version,
        round=identity.round,
        attempt=identity.attempt,
        failures=identity.failures,
        data=data,
        content="here" if data else "apart" if LARGE in metadata["annotations"] else "absent",
        template=metadata["labels"].get(TEMPLATE_LABEL, ""),
        created=saved["created"],
        running=runs,
        superseded=folder.superseded.exists(),
        done=folder.done.exists(),
    )
    if _is_held(saved["job"]):
        reason = metadata["annotations"][REASON_ANNOTATION]
        return replace(job, held=True, phase="failed", reason=reason, finished=job.created)
    return job if runs else _ended(folder, job)


def _item_files(manifest: dict[str, Any], data: str) -> dict[str, str]:
    """By path; `data` is the item's where the Job doesn't have it."""
    if names := manifest["metadata"]["annotations"].get(LARGE):
        texts = large_files(file_names(names), data)
        volumes = manifest["spec"]["template"]["spec"]["volumes"]
        (items,) = [each["configMap"]["items"] for each in volumes if each["name"] == ITEM_VOLUME]
        return {item["path"]: texts[item["key"]] for item in items}
    annotations = manifest["spec"]["template"]["metadata"].get("annotations", {})
    files = item_files(manifest["spec"]["template"]["spec"])
    found = {file["path"]: annotations.get(annotation_of(file)) for file in files}
    return {path: text for path, text in found.items() if text is not None}


def _is_held(manifest: dict[str, Any]) -> bool:
    """It only holds an item, and never runs."""
    return REASON_ANNOTATION in manifest["metadata"]["annotations"]


def _ended(folder: JobFolder, job: Job) -> Job:
    try:
        code = int(folder.exit.read_text())
        finished = folder.exit.stat().st_mtime
    except (FileNotFoundError, ValueError):
        if folder.timed_out.exists():
            reason = f"it ran for longer than {folder.timed_out.read_text()} s"
            return replace(
                job,
                phase="failed",
                finished=time.time(),
                exit_code=143,
                reason=reason,
                message=_output(folder),
            )
        return replace(job, phase="lost", finished=time.time(), reason="it was interrupted")
    ended = replace(job, phase="failed", finished=finished, exit_code=code)
    try:
        result = _result(folder)
    except OSError as error:
        why = f"its result can't be read: {error.strerror}"
        return replace(ended, reason=why, message=_output(folder))
    if code == 0:
        return replace(ended, phase="succeeded", message=result)
    return replace(ended, reason=f"exit code {code}", message=result or _output(folder))


def _result(folder: JobFolder) -> str:
    """Raises OSError, also for what is no plain file: the worker may have put anything there."""
    try:
        descriptor = os.open(folder.result, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        return os.read(descriptor, RESULT_BYTES + 1).decode(errors="replace")
    finally:
        os.close(descriptor)


def _output(folder: JobFolder) -> str:
    try:
        with folder.log.open("rb") as file:
            file.seek(max(0, folder.log.stat().st_size - OUTPUT_KEPT))
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def whole_files(folder: Path) -> list[Path]:
    """Those that are whole."""
    return sorted(path for path in folder.iterdir() if path.suffix != ".new") if folder.exists() else []


@contextlib.contextmanager
def _refusing(what: str) -> Any:
    try:
        yield
    except OSError as error:
        raise Refused(f"it can't be {what}: {error.strerror}") from None
