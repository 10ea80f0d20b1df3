"""Jobs on a Kubernetes, in one namespace. All state is there."""

import asyncio
import base64
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from wqc.contract.names import (
    ABSENT_LABEL,
    DONE_LABEL,
    FAILED_LABEL,
    LEDGER_LABEL,
    MANAGER,
    QUEUE_LABEL,
    SUPERSEDED_LABEL,
    TEMPLATE_LABEL,
    WORKFLOW_LABEL,
    object_name,
)
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.kubernetes.announcing import event
from wqc.runtime.stores.kubernetes.known import Known
from wqc.runtime.stores.kubernetes.large import LargeItems
from wqc.runtime.stores.kubernetes.lookups import Lookups
from wqc.runtime.stores.kubernetes.maps import Maps, refusing
from wqc.runtime.stores.kubernetes.objects import ConfigMap, JobObject, Jobs, JobStatus, Metadata, Pod, Pods
from wqc.runtime.stores.kubernetes.reading import (
    JOB_NAME_LABEL,
    finished_condition,
    is_held,
    is_large,
    read_job,
)
from wqc.runtime.stores.kubernetes.transport import MERGE_PATCH, ApiError, Transport
from wqc.runtime.stores.kubernetes.warnings import Warnings
from wqc.runtime.stores.kubernetes.watching import Followed, decoded, follow
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
    Unsure,
)

SEGMENT_KEY = "hashes"
SEGMENT_LABELS: dict[Kind, str] = {"ledger": LEDGER_LABEL, "failed": FAILED_LABEL, "absent": ABSENT_LABEL}
TEMPLATE_KEY = "job.yaml"
CONFLICTS = 5
"""So often a patch is tried again on a Job that changed meanwhile."""


@dataclass(frozen=True, slots=True)
class _Answered:
    """What was asked about the Job is known, or never will be."""

    job: JobObject


_Event = list[JobObject] | JobObject | _Answered | Gone | Unsure | BaseException


class KubernetesStore:
    """`may_write` is asked before each write (promise 18). `patience`: after so many seconds without a
    running container it is asked why. `audit`: seconds between two listings at most.
    """

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        workflow: str,
        may_write: Callable[[], bool],
        patience: float = 10.0,
        audit: float = 600.0,
    ) -> None:
        self._transport = transport
        self._namespace = namespace
        self._may_write = may_write
        self._workflow = workflow
        self._audit = audit
        self._jobs_path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        self._pods_path = f"/api/v1/namespaces/{namespace}/pods"
        self._maps = Maps(transport, namespace, workflow, self._write)
        self._large = LargeItems(self._maps)
        self._owners: dict[str, dict[str, Any]] = {}
        self._heirs: dict[str, str] = {}
        """By a queue's former name, its name."""
        self._events: asyncio.Queue[_Event] = asyncio.Queue()
        self._known = Known()
        self._lookups = Lookups(self._ask, self._answered, self._ended)
        self._warnings = Warnings(transport, namespace, patience, self._known.waiting, self._warned)
        self._tasks: list[asyncio.Task[None]] = []

    async def files(self, queue: str) -> QueueFiles:
        name = object_name(self._workflow, queue)
        found = await self._maps.get(name)
        if found is None:
            raise LookupError(f"there is no ConfigMap {name}; is what wqc built applied?")
        data = found.data or {}
        if not {"settings.yaml", "job.yaml"} <= data.keys():
            raise LookupError(f"the ConfigMap {name} has no settings.yaml and job.yaml")
        owner = self._owners[queue] = _owner(found)
        return QueueFiles(data["settings.yaml"], data["job.yaml"], owner)

    async def holds(self, node: str) -> dict[str, Any]:
        name = object_name(self._workflow, MANAGER)
        found = await self._maps.get(name)
        if found is None:
            raise LookupError(f"there is no ConfigMap {name}; is what wqc built applied?")
        owner = self._owners[node] = _owner(found)
        return owner

    async def take_over(self, queue: str, former: str) -> None:
        found = await self._maps.get(object_name(self._workflow, former))
        if found is not None:
            self._owners[former] = _owner(found)
            self._heirs[former] = queue

    async def changes(self) -> AsyncIterator[Change]:
        selector = {"labelSelector": f"{WORKFLOW_LABEL}={self._workflow}"}
        pods_listed = asyncio.Event()

        def pods(found: list[Pod]) -> None:
            for pod in found:
                self._pod(pod)
            pods_listed.set()

        def nothing(_: Any = None) -> None:
            """A pod's end is remembered when it goes; a Job whose pod wasn't seen asks for it."""

        told_pods = Followed[Pod](nothing, pods, self._pod, nothing, nothing)
        told_jobs = Followed[JobObject](
            self._known.begin_listing, self._listed, self._job, self._job_gone, self._unsure
        )
        pods_followed = follow(self._transport, self._pods_path, selector, Pods, Pod, told_pods, self._audit)
        self._follow(pods_followed).add_done_callback(lambda _: pods_listed.set())
        await pods_listed.wait()
        jobs_followed = follow(
            self._transport, self._jobs_path, selector, Jobs, JobObject, told_jobs, self._audit
        )
        self._follow(jobs_followed)
        self._follow(self._warnings.follow())
        while True:
            event = await self._events.get()
            if isinstance(event, BaseException):
                raise event
            change = self._change(event)
            if change:
                yield change

    def _follow(self, what: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """If it fails, so does who hears of changes: without it nothing would ever be heard again."""
        task = asyncio.create_task(what)
        task.add_done_callback(self._ended)
        self._tasks.append(task)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error:
            self._events.put_nowait(error)

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        name = manifest["metadata"]["name"]
        with self._known.creating(name):
            made = await self._create(name, manifest)
            self._known.created(made)
        if is_large(made):
            await self._large.keep(made, data)
        return read_job(made, self._known.ending(name), is_large(made))

    async def complete(self, job: Job, data: str) -> Job:
        with refusing():
            found = await self._get(job.job)
        if found is None or not self._is_ours(found.metadata):
            raise LookupError(f"the Job {job.job} is gone")
        await self._large.keep(found, data)
        return read_job(found, self._known.ending(job.job), is_apart=True)

    async def data(self, job: Job) -> str:
        return await self._large.data(job.job)

    async def _create(self, name: str, manifest: dict[str, Any]) -> JobObject:
        with refusing():
            try:
                return decoded(await self._write("POST", self._jobs_path, body=manifest), JobObject)
            except ApiError as error:
                if error.status == 409:
                    raise AlreadyExists(name) from None
                raise

    async def get(self, queue: str, job: str) -> Job | None:
        with refusing():
            found = await self._get(job)
        if found is None:
            return None
        if not self._is_ours(found.metadata) or (found.metadata.labels or {}).get(QUEUE_LABEL) != queue:
            raise ForeignJob(f"there is a Job {job} that this queue didn't make")
        try:
            return read_job(found, self._known.ending(job), await self._large.has(found))
        except ValueError:
            raise ForeignJob(f"the Job {job} doesn't say which item it is for") from None

    async def supersede(self, job: Job) -> None:
        await self._change_job(job, {SUPERSEDED_LABEL: "true"}, dict)

    async def give_up(self, job: Job) -> None:
        """The Job's own deadline ends it, whether it has a pod or not."""
        await self._change_job(job, {}, lambda: {"spec": {"activeDeadlineSeconds": 1}})

    async def finish(self, job: Job, ttl: float) -> None:
        finished = job.finished or time.time()

        def spec() -> dict[str, Any]:
            """A TTL counts from the Job's end, which for one that holds an item is only now."""
            if job.held:
                return {"spec": {"completions": 0, "ttlSecondsAfterFinished": math.ceil(ttl)}}
            return {"spec": {"ttlSecondsAfterFinished": math.ceil(max(0.0, time.time() - finished) + ttl)}}

        await self._change_job(job, {DONE_LABEL: "true"}, spec)

    async def _change_job(
        self, job: Job, labels: Mapping[str, str], more: Callable[[], dict[str, Any]]
    ) -> None:
        """Label a Job, and change what `more` says; one that is gone is left."""
        version = job.resource_version
        path = f"{self._jobs_path}/{job.job}"
        for _ in range(CONFLICTS):
            patch = {"metadata": {"labels": dict(labels), "resourceVersion": version}} | more()
            with refusing():
                try:
                    await self._write("PATCH", path, body=patch, content_type=MERGE_PATCH)
                    return
                except ApiError as error:
                    if error.status == 404:
                        return
                    if error.status != 409:
                        raise
                found = await self._get(job.job)
            if found is None or not self._is_ours(found.metadata):
                return
            version = found.metadata.resource_version
        raise Refused(f"the Job {job.job} changes all the time")

    async def segments(self, queue: str, kind: Kind = "ledger") -> tuple[Segment, ...]:
        names = [queue, *(former for former, heir in self._heirs.items() if heir == queue)]
        found = await self._mine(f"{SEGMENT_LABELS[kind]} in ({','.join(names)})")
        contents = ((each.metadata.name, (each.binary_data or {}).get(SEGMENT_KEY)) for each in found)
        return tuple(Segment(name, content) for name, content in contents if content is not None)

    async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
        content = base64.b64encode(segment.content).decode()
        labels = {SEGMENT_LABELS[kind]: queue}
        owner = self._owners[queue]
        await self._maps.keep(segment.name, labels, owner, {"binaryData": {SEGMENT_KEY: content}})

    async def remove_segment(self, queue: str, name: str, kind: Kind = "ledger") -> None:
        await self._maps.forget(name)

    async def templates(self, queue: str) -> tuple[Template, ...]:
        found = await self._mine(f"{QUEUE_LABEL}={queue},{TEMPLATE_LABEL}")
        return tuple(
            Template((each.metadata.labels or {})[TEMPLATE_LABEL], each.data[TEMPLATE_KEY])
            for each in found
            if each.data and TEMPLATE_KEY in each.data
        )

    async def keep_template(self, queue: str, template: Template) -> None:
        labels = {QUEUE_LABEL: queue, TEMPLATE_LABEL: template.digest}
        name = self._template_name(queue, template.digest)
        await self._maps.keep(name, labels, self._owners[queue], {"data": {TEMPLATE_KEY: template.text}})

    async def forget_template(self, queue: str, digest: str) -> None:
        await self._maps.forget(self._template_name(queue, digest))

    def _template_name(self, queue: str, digest: str) -> str:
        return object_name(self._workflow, queue, "template", digest)

    async def announce(self, queue: str, said: Announcement) -> None:
        owner = self._owners.get(queue) or self._owners.get(self._workflow)
        if owner is None:
            raise Refused("the ConfigMap of the workflow isn't read yet")
        body = event(self._namespace, owner, said)
        with refusing():
            await self._write("POST", f"/api/v1/namespaces/{self._namespace}/events", body=body)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._lookups.close()

    async def _write(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        if not self._may_write():
            raise Refused("this manager doesn't hold the lease")
        return await self._transport.ask(method, path, body=body, content_type=content_type)

    def owners(self) -> list[dict[str, Any]]:
        """The queues' objects, each once; an object of theirs together goes away with the last of them."""
        return list({owner["uid"]: owner for owner in self._owners.values()}.values())

    async def _mine(self, selector: str) -> list[ConfigMap]:
        return [each for each in await self._maps.select(selector) if self._is_ours(each.metadata)]

    # --- what the watches tell ---

    def _is_ours(self, metadata: Metadata) -> bool:
        uids = {reference.uid for reference in metadata.owner_references or ()}
        return any(owner["uid"] in uids for owner in self._owners.values())

    def _listed(self, found: list[JobObject]) -> None:
        self._events.put_nowait(self._known.listed(each for each in found if self._is_ours(each.metadata)))

    def _job(self, found: JobObject) -> None:
        if self._is_ours(found.metadata):
            self._known.changed(found)
            self._events.put_nowait(found)

    def _job_gone(self, found: JobObject) -> None:
        if self._is_ours(found.metadata):
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

    def _change(self, event: list[JobObject] | JobObject | _Answered | Gone | Unsure) -> Change | None:
        match event:
            case list(found):
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
        hindrance = job.hindrance
        if job.phase == "active" and not (known and known.started):
            hindrance = hindrance or self._warnings.of(name, known.pod if known else "")
        return replace(job, queue=self._heirs.get(job.queue, job.queue), hindrance=hindrance)

    async def _get(self, job: str) -> JobObject | None:
        try:
            return decoded(await self._transport.ask("GET", f"{self._jobs_path}/{job}"), JobObject)
        except ApiError as error:
            if error.status == 404:
                return None
            raise


def _owner(found: ConfigMap) -> dict[str, Any]:
    """The reference by which Jobs and ConfigMaps belong to it."""
    name, uid = found.metadata.name, found.metadata.uid
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": True}
