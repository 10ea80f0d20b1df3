"""What the watches of Jobs and pods tell, as changes of Jobs; what they don't tell is asked for."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from wqc.contract.names import DONE_LABEL, WORKFLOW_LABEL
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.kubernetes.known import Known
from wqc.runtime.stores.kubernetes.large import LargeItems
from wqc.runtime.stores.kubernetes.lookups import Lookups
from wqc.runtime.stores.kubernetes.maps import refusing
from wqc.runtime.stores.kubernetes.objects import JobObject, Jobs, JobStatus, Pod, Pods
from wqc.runtime.stores.kubernetes.owners import Owners
from wqc.runtime.stores.kubernetes.reading import JOB_NAME_LABEL, finished_condition, is_held, read_job
from wqc.runtime.stores.kubernetes.transport import Transport
from wqc.runtime.stores.kubernetes.warnings import Warnings
from wqc.runtime.stores.kubernetes.watching import Followed, decoded, follow
from wqc.runtime.stores.store import Change, Changed, Gone, Listed, Unsure


@dataclass(frozen=True, slots=True)
class _Answered:
    """What was asked about the Job is known, or never will be."""

    job: JobObject


_Event = list[JobObject] | JobObject | _Answered | Gone | Unsure
_Told = _Event | BaseException


class Changes:
    """`patience`: after so many seconds without a running container it is asked why. `audit`: seconds between
    two listings at most.
    """

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        workflow: str,
        owners: Owners,
        known: Known,
        large: LargeItems,
        patience: float,
        audit: float,
    ) -> None:
        self._transport = transport
        self._jobs_path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        self._pods_path = f"/api/v1/namespaces/{namespace}/pods"
        self._workflow = workflow
        self._owners = owners
        self._known = known
        self._large = large
        self._audit = audit
        self._events: asyncio.Queue[_Told] = asyncio.Queue()
        self._lookups = Lookups(self._ask, self._answered, self._ended)
        self._warnings = Warnings(transport, namespace, patience, known.waiting, self._warned)
        self._tasks: list[asyncio.Task[None]] = []

    async def follow(self) -> AsyncIterator[Change]:
        """Never ends."""
        selector = {"labelSelector": f"{WORKFLOW_LABEL}={self._workflow}"}
        pods_listed = asyncio.Event()

        def pods(found: list[Pod]) -> None:
            for pod in found:
                self._pod(pod)
            pods_listed.set()

        def unsure(reason: str) -> None:
            """Once they were listed, a Job whose pod wasn't seen asks for it."""
            if not pods_listed.is_set():
                self._events.put_nowait(Unsure(reason))

        def nothing(_: Any = None) -> None:
            """A pod's end is remembered when it goes."""

        told_pods = Followed[Pod](nothing, pods, self._pod, nothing, unsure)
        told_jobs = Followed[JobObject](
            self._known.begin_listing, self._listed, self._job, self._job_gone, self._unsure
        )
        pods_followed = follow(self._transport, self._pods_path, selector, Pods, Pod, told_pods, self._audit)

        async def jobs_followed() -> None:
            await pods_listed.wait()
            await follow(self._transport, self._jobs_path, selector, Jobs, JobObject, told_jobs, self._audit)

        self._follow(pods_followed)
        self._follow(jobs_followed())
        self._follow(self._warnings.follow())
        while True:
            event = await self._events.get()
            if isinstance(event, BaseException):
                raise event
            change = self._change(event)
            if change:
                yield change

    def _follow(self, what: Coroutine[Any, Any, None]) -> None:
        """If it fails, so does who hears of changes: without it nothing would ever be heard again."""
        task = asyncio.create_task(what)
        task.add_done_callback(self._ended)
        self._tasks.append(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error:
            self._events.put_nowait(error)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._lookups.close()

    # --- what the watches tell ---

    def _listed(self, found: list[JobObject]) -> None:
        self._events.put_nowait(
            self._known.listed(each for each in found if self._owners.have(each.metadata))
        )

    def _job(self, found: JobObject) -> None:
        if self._owners.have(found.metadata):
            self._known.changed(found)
            self._events.put_nowait(found)

    def _job_gone(self, found: JobObject) -> None:
        if self._owners.have(found.metadata):
            name = found.metadata.name
            self._known.gone(name)
            self._large.gone(name)
            self._lookups.drop(name)
            self._events.put_nowait(Gone(name))

    def _unsure(self, reason: str) -> None:
        self._known.doubt()
        self._events.put_nowait(Unsure(reason))

    def _pod(self, pod: Pod) -> None:
        job = self._known.pod(pod)
        if job:
            self._events.put_nowait(job)

    def _warned(self, job: str) -> None:
        found = self._known.job(job)
        if found:
            self._events.put_nowait(found)

    def _answered(self, found: JobObject) -> None:
        self._events.put_nowait(_Answered(found))

    def _change(self, event: _Event) -> Change | None:
        match event:
            case list(found):
                found = [*found, *self._known.made_since(found)]
                return Listed(tuple(job for each in found if (job := self._told(each))))
            case JobObject():
                if self._is_open(event):
                    self._lookups.begin(event)
                    return None
                self._lookups.drop(event.metadata.name)
                return self._changed(event)
            case _Answered(found):
                return self._changed(found)
            case _:
                return event

    def _changed(self, found: JobObject) -> Change | None:
        job = self._read(found)
        return Changed(job) if job else None

    def _told(self, found: JobObject) -> Job | None:
        """What became of it can't be told yet if that has to be asked for."""
        if not self._is_open(found):
            return self._read(found)
        self._lookups.begin(found)
        job = self._read(msgspec.structs.replace(found, status=JobStatus()))
        return replace(job, unclear=True) if job else None

    def _is_open(self, found: JobObject) -> bool:
        """What became of it has to be asked for."""
        return self._lacks_pod(found) or self._large.must_ask(found)

    def _lacks_pod(self, found: JobObject) -> bool:
        """A Job can be over before the watch shows its pod's end; is there still a pod?"""
        done = DONE_LABEL in (found.metadata.labels or {})
        if not finished_condition(found) or done or is_held(found):
            return False
        known = self._known.ending(found.metadata.name)
        return known is None or known.exit_code is None

    async def _ask(self, found: JobObject) -> None:
        """Raises Refused."""
        if self._lacks_pod(found):
            asked = {"labelSelector": f"{JOB_NAME_LABEL}={found.metadata.name}"}
            with refusing():
                pods = decoded(await self._transport.ask("GET", self._pods_path, asked), Pods)
            for pod in pods.items:
                self._pod(pod)
        await self._large.has(found)

    def _read(self, found: JobObject) -> Job | None:
        """None for one that isn't the manager's, though it claims to belong to a queue."""
        name = found.metadata.name
        known = self._known.ending(name)
        try:
            job = read_job(found, known, self._large.is_known(found))
        except ValueError:
            return None
        job = replace(job, queue=self._owners.named(job.queue))
        if job.phase == "active" and not job.hindrance and not (known and known.started):
            warning = self._warnings.of(name, known.pod if known else "")
            if warning:
                return replace(job, hindrance=warning.why, hindered_by=warning.kind)
        return job
