"""Jobs on a Kubernetes, in one namespace. All state is there."""

import base64
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from wqc.contract.names import (
    ABSENT_LABEL,
    DONE_LABEL,
    FAILED_LABEL,
    LEDGER_LABEL,
    QUEUE_LABEL,
    SUPERSEDED_LABEL,
    TEMPLATE_LABEL,
    object_name,
)
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.kubernetes.announcing import event
from wqc.runtime.stores.kubernetes.changes import Changes
from wqc.runtime.stores.kubernetes.known import Known
from wqc.runtime.stores.kubernetes.large import LargeItems
from wqc.runtime.stores.kubernetes.maps import Maps, refusing
from wqc.runtime.stores.kubernetes.objects import ConfigMap, JobObject
from wqc.runtime.stores.kubernetes.owners import Owners
from wqc.runtime.stores.kubernetes.reading import is_large, read_job
from wqc.runtime.stores.kubernetes.transport import MERGE_PATCH, ApiError, Transport
from wqc.runtime.stores.kubernetes.watching import decoded
from wqc.runtime.stores.store import (
    AlreadyExists,
    Announcement,
    Change,
    ForeignJob,
    Kind,
    QueueFiles,
    Refused,
    Segment,
    Template,
)

SEGMENT_KEY = "hashes"
SEGMENT_LABELS: dict[Kind, str] = {"ledger": LEDGER_LABEL, "failed": FAILED_LABEL, "absent": ABSENT_LABEL}
TEMPLATE_KEY = "job.yaml"
CONFLICTS = 5
"""So often a patch is tried again on a Job that changed meanwhile."""


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
        self._jobs_path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        self._maps = Maps(transport, namespace, workflow, self._write)
        self._large = LargeItems(self._maps)
        self._owners = Owners(self._maps, workflow)
        self._known = Known()
        self._changes = Changes(
            transport, namespace, workflow, self._owners, self._known, self._large, patience, audit
        )

    async def files(self, queue: str) -> QueueFiles:
        return await self._owners.of_queue(queue)

    async def holds(self, node: str) -> dict[str, Any]:
        return await self._owners.of_node(node)

    async def take_over(self, queue: str, former: str) -> None:
        await self._owners.take_over(queue, former)

    def changes(self) -> AsyncIterator[Change]:
        return self._changes.follow()

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
        if found is None or not self._owners.have(found.metadata):
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
        if not self._owners.have(found.metadata) or (found.metadata.labels or {}).get(QUEUE_LABEL) != queue:
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
            if found is None or not self._owners.have(found.metadata):
                return
            version = found.metadata.resource_version
        raise Refused(f"the Job {job.job} changes all the time")

    async def segments(self, queue: str, kind: Kind = "ledger") -> tuple[Segment, ...]:
        found = await self._mine(f"{SEGMENT_LABELS[kind]} in ({','.join(self._owners.names(queue))})")
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
        owner = self._owners.any_of(queue)
        if owner is None:
            raise Refused("the ConfigMap of the workflow isn't read yet")
        body = event(self._namespace, owner, said)
        with refusing():
            await self._write("POST", f"/api/v1/namespaces/{self._namespace}/events", body=body)

    async def close(self) -> None:
        await self._changes.close()

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
        return self._owners.all()

    async def _mine(self, selector: str) -> list[ConfigMap]:
        return [each for each in await self._maps.select(selector) if self._owners.have(each.metadata)]

    async def _get(self, job: str) -> JobObject | None:
        try:
            return decoded(await self._transport.ask("GET", f"{self._jobs_path}/{job}"), JobObject)
        except ApiError as error:
            if error.status == 404:
                return None
            raise
