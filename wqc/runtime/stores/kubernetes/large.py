"""The ConfigMaps of items that are too large for their Jobs (promise 10): named as a Job, and its own."""

from typing import Any

from wqc.contract.names import LARGE
from wqc.runtime.queue.largeitem import ITEM_FILE, file_names, large_files
from wqc.runtime.stores.kubernetes.maps import Maps
from wqc.runtime.stores.kubernetes.objects import JobObject
from wqc.runtime.stores.kubernetes.reading import is_large
from wqc.runtime.stores.store import Refused


class LargeItems:
    """All methods raise Refused."""

    def __init__(self, maps: Maps) -> None:
        self._maps = maps
        self._there: set[str] = set()
        self._is_listed = False

    async def keep(self, job: JobObject, data: str) -> None:
        name, uid = job.metadata.name, job.metadata.uid
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid, "controller": True}
        files = file_names((job.metadata.annotations or {})[LARGE])
        content: dict[str, Any] = {"data": large_files(files, data)}
        if not await self._maps.keep(name, {LARGE: "true"}, owner, content):
            found = await self._maps.select(LARGE, name)
            owners = (found[0].metadata.owner_references if found else None) or ()
            if uid not in [each.uid for each in owners]:
                raise Refused(f"a ConfigMap {name} that isn't this Job's is in the way of its item")
        self._there.add(name)

    def must_ask(self, job: JobObject) -> bool:
        """`has` has to ask the server."""
        return is_large(job) and not self._is_listed

    def is_known(self, job: JobObject) -> bool:
        """As `has`, as far as that is known."""
        return is_large(job) and job.metadata.name in self._there

    async def has(self, job: JobObject) -> bool:
        """Whether the ConfigMap of a Job is there, as far as it should be."""
        if not is_large(job):
            return False
        if not self._is_listed:
            self._there |= {each.metadata.name for each in await self._maps.select(LARGE, whole=False)}
            self._is_listed = True
        return self.is_known(job)

    async def data(self, job: str) -> str:
        """Raises also LookupError."""
        found = await self._maps.select(LARGE, job)
        if not found:
            self._there.discard(job)
            raise LookupError(f"the ConfigMap {job} with its item is gone")
        return (found[0].data or {})[ITEM_FILE]

    def gone(self, job: str) -> None:
        """The Job is, and its ConfigMap with it."""
        self._there.discard(job)
