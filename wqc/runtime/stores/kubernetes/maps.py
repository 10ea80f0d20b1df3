"""The ConfigMaps that the manager makes: each never changes, and its name stands for its content."""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from wqc.contract.names import WORKFLOW_LABEL
from wqc.runtime.stores.kubernetes.objects import ConfigMap, ConfigMaps, Described
from wqc.runtime.stores.kubernetes.transport import JSON, ApiError, Transport
from wqc.runtime.stores.kubernetes.watching import PAGE, decoded
from wqc.runtime.stores.store import Refused

ONLY_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

Write = Callable[..., Awaitable[bytes]]
"""As Transport.ask, while something may be written."""


class Maps:
    """All methods raise Refused."""

    def __init__(self, transport: Transport, namespace: str, workflow: str, write: Write) -> None:
        self._transport = transport
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"
        self._workflow = workflow
        self._write = write

    async def get(self, name: str) -> ConfigMap | None:
        """One that the manager may read by name."""
        with refusing():
            try:
                return decoded(await self._transport.ask("GET", f"{self._path}/{name}"), ConfigMap)
            except ApiError as error:
                if error.status == 404:
                    return None
                raise

    async def select(self, selector: str, name: str = "", whole: bool = True) -> list[ConfigMap]:
        """The workflow's that the labels select, also those of others who use the same labels.

        `name`: only the one of that name. If not `whole`, without what is in them.
        """
        found: list[ConfigMap] = []
        asked = {"labelSelector": f"{WORKFLOW_LABEL}={self._workflow},{selector}", "limit": str(PAGE)}
        if name:
            asked["fieldSelector"] = f"metadata.name={name}"
        accept = JSON if whole else ONLY_METADATA
        while True:
            with refusing():
                answer = await self._transport.ask("GET", self._path, asked, accept=accept)
                page = decoded(answer, ConfigMaps) if whole else decoded(answer, Described)
            found += page.items or ()
            if not page.metadata.continue_:
                return found
            asked["continue"] = page.metadata.continue_

    async def keep(
        self, name: str, labels: dict[str, str], owner: dict[str, Any], content: dict[str, Any]
    ) -> bool:
        """False: there is one of that name."""
        metadata = {
            "name": name,
            "labels": {WORKFLOW_LABEL: self._workflow} | labels,
            "ownerReferences": [owner],
        }
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "immutable": True} | content
        with refusing():
            try:
                await self._write("POST", self._path, body=body)
            except ApiError as error:
                if error.status != 409:
                    raise
                return False
        return True

    async def forget(self, name: str) -> None:
        """One that is gone is forgotten."""
        with refusing():
            try:
                await self._write("DELETE", f"{self._path}/{name}")
            except ApiError as error:
                if error.status != 404:
                    raise


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    try:
        yield
    except ApiError as error:
        raise Refused(str(error), error.retry_after) from None
