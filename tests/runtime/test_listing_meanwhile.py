"""A Job that is made while a listing is on its way to who hears of it."""

import asyncio
from typing import Any

from wqc.contract.names import ITEM_ANNOTATION, QUEUE_LABEL
from wqc.runtime.queue.attempt import Identity
from wqc.runtime.stores.kubernetes.changes import Changes
from wqc.runtime.stores.kubernetes.known import Known
from wqc.runtime.stores.kubernetes.objects import JobObject, JobSpec, Metadata, PodTemplate
from wqc.runtime.stores.kubernetes.transport import ApiError
from wqc.runtime.stores.store import Listed


def made(name: str) -> JobObject:
    annotations = {ITEM_ANNOTATION: Identity(name, "", 0, 1, 0).text()}
    metadata = Metadata(name=name, labels={QUEUE_LABEL: "work"}, annotations=annotations)
    return JobObject(metadata, JobSpec(PodTemplate()))


class Owners:
    def have(self, metadata: Metadata) -> bool:
        return True

    def named(self, queue: str) -> str:
        return queue


class LargeItems:
    def must_ask(self, job: JobObject) -> bool:
        return False

    def is_known(self, job: JobObject) -> bool:
        return False


class Nowhere:
    async def ask(self, *given: Any) -> bytes:
        raise ApiError(0, "there is no server")


def test_it_is_not_taken_for_deleted() -> None:
    async def scenario() -> None:
        known = Known()
        make: Any = Changes
        changes = make(Nowhere(), "default", "w", Owners(), known, LargeItems(), 10.0, 600.0)
        known.begin_listing()
        changes._listed([made("first")])
        known.created(made("second"))  # its answer comes before anybody hears of the listing
        async for change in changes.follow():
            assert isinstance(change, Listed)
            assert {job.job for job in change.jobs} == {"first", "second"}
            break
        await changes.close()

    asyncio.run(scenario())
