"""The state as a ConfigMap, WORKFLOW-state. Nothing in git declares it, so nothing reverts it.

Every patch names the version that it is based on. Where the writer names none, it is the one that this
process saw last; a newer one will do if it has the same entries of those that are written.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from wqc.contract.names import STATE, WORKFLOW_LABEL, object_name
from wqc.runtime.stores.kubernetes.objects import ConfigMap, ConfigMaps
from wqc.runtime.stores.kubernetes.transport import MERGE_PATCH, ApiError, Transport
from wqc.runtime.stores.kubernetes.watching import Followed, decoded, follow
from wqc.runtime.stores.state import Conflict, State, Unread
from wqc.runtime.stores.store import Refused

_OTHER_VERSION = (404, 409)
"""It was deleted, made or changed meanwhile."""
TRIES = 10
"""So many others may write at the same moment."""


class KubernetesStateStore:
    """`may_write` is asked before each write; `owners` are the objects that it goes away with."""

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        workflow: str,
        may_write: Callable[[], bool] = lambda: True,
        owners: Callable[[], Sequence[dict[str, Any]]] = lambda: (),
        audit: float = 600.0,
    ) -> None:
        self._transport = transport
        self._workflow = workflow
        self._may_write = may_write
        self._owners = owners
        self._audit = audit
        self._collection = f"/api/v1/namespaces/{namespace}/configmaps"
        self._name = object_name(workflow, STATE)
        self._path = f"{self._collection}/{self._name}"
        self._tasks: list[asyncio.Task[None]] = []
        self._seen: State | None = None
        self._turn = asyncio.Lock()

    async def changes(self) -> AsyncIterator[State | Unread]:
        """If what follows it fails, so does who hears of changes: nothing would ever be heard again."""
        seen: asyncio.Queue[State | Unread | BaseException] = asyncio.Queue()
        told = Followed[ConfigMap](
            begin=lambda: None,
            listed=lambda found: seen.put_nowait(_state(found[0]) if found else State()),
            changed=lambda found: seen.put_nowait(_state(found)),
            gone=lambda found: seen.put_nowait(State()),
            unsure=lambda reason: seen.put_nowait(Unread(reason)),
        )
        query = {"fieldSelector": f"metadata.name={self._name}"}
        following = follow(self._transport, self._collection, query, ConfigMaps, ConfigMap, told, self._audit)
        task = asyncio.create_task(following)
        self._tasks.append(task)

        def ended(_: Any) -> None:
            if not task.cancelled() and (error := task.exception()):
                seen.put_nowait(error)

        task.add_done_callback(ended)
        while True:
            found = await seen.get()
            if isinstance(found, BaseException):
                raise found
            yield found

    async def read(self) -> State:
        try:
            self._seen = await self._read()
        except ApiError as error:
            raise Refused(str(error), error.retry_after) from None
        return self._seen

    async def write(self, changes: Mapping[str, str | None], version: str | None = None) -> State:
        async with self._turn:
            try:
                if version is not None:
                    return await self._put(changes, version)
                return await self._write_on(self._seen or await self._read(), changes)
            except ApiError as error:
                if error.status in _OTHER_VERSION:
                    raise Conflict(str(error)) from None
                raise Refused(str(error), error.retry_after) from None

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self) -> State:
        try:
            return _state(decoded(await self._transport.ask("GET", self._path), ConfigMap))
        except ApiError as error:
            if error.status == 404:
                return State()
            raise

    async def _write_on(self, seen: State, changes: Mapping[str, str | None]) -> State:
        for _ in range(TRIES):
            try:
                self._seen = await self._put(changes, seen.version)
                return self._seen
            except ApiError as error:
                if error.status not in _OTHER_VERSION:
                    raise
            self._seen = found = await self._read()
            others = [key for key in changes if found.entries.get(key) != seen.entries.get(key)]
            if any(found.entries.get(key) != changes[key] for key in others):
                raise Conflict(f"somebody else has changed {', '.join(others)} of {self._name}")
            seen = found
        raise Conflict(f"{self._name} changes all the time")

    async def _put(self, changes: Mapping[str, str | None], version: str) -> State:
        if not self._may_write():
            raise Refused("this manager doesn't hold the lease")
        if version == "":
            return await self._create(changes)
        body = {"metadata": self._metadata() | {"resourceVersion": version}, "data": changes}
        answer = await self._transport.ask("PATCH", self._path, body=body, content_type=MERGE_PATCH)
        return _state(decoded(answer, ConfigMap))

    async def _create(self, changes: Mapping[str, str | None]) -> State:
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": self._metadata(),
            "data": {key: text for key, text in changes.items() if text is not None},
        }
        return _state(decoded(await self._transport.ask("POST", self._collection, body=body), ConfigMap))

    def _metadata(self) -> dict[str, Any]:
        owners = [{**owner, "controller": False} for owner in self._owners()]
        labels = {"name": self._name, "labels": {WORKFLOW_LABEL: self._workflow}}
        return labels | ({"ownerReferences": owners} if owners else {})


def _state(found: ConfigMap) -> State:
    return State(found.data or {}, found.metadata.resource_version)
