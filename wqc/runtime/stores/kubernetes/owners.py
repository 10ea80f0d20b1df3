"""The ConfigMaps that a workflow's Jobs and records belong to, and go away with."""

from typing import Any

from wqc.contract.names import MANAGER, object_name
from wqc.runtime.stores.kubernetes.maps import Maps
from wqc.runtime.stores.kubernetes.objects import ConfigMap, Metadata
from wqc.runtime.stores.store import QueueFiles


class Owners:
    """By queue, or by pattern node: what nodes hold belongs to the manager's own."""

    def __init__(self, maps: Maps, workflow: str) -> None:
        self._maps = maps
        self._workflow = workflow
        self._owners: dict[str, dict[str, Any]] = {}
        self._heirs: dict[str, str] = {}
        """By a queue's former name, its name."""

    def __getitem__(self, queue: str) -> dict[str, Any]:
        return self._owners[queue]

    async def of_queue(self, queue: str) -> QueueFiles:
        """Raises Refused, LookupError."""
        found = await self._applied(object_name(self._workflow, queue))
        data = found.data or {}
        if not {"settings.yaml", "job.yaml"} <= data.keys():
            raise LookupError(f"the ConfigMap {found.metadata.name} has no settings.yaml and job.yaml")
        owner = self._owners[queue] = _reference(found)
        return QueueFiles(data["settings.yaml"], data["job.yaml"], owner)

    async def of_node(self, node: str) -> dict[str, Any]:
        """Raises Refused, LookupError."""
        found = await self._applied(object_name(self._workflow, MANAGER))
        owner = self._owners[node] = _reference(found)
        return owner

    async def take_over(self, queue: str, former: str) -> None:
        """Raises Refused."""
        found = await self._maps.get(object_name(self._workflow, former))
        if found is not None:
            self._owners[former] = _reference(found)
            self._heirs[former] = queue

    def named(self, queue: str) -> str:
        """A queue's name, or whose that is now."""
        return self._heirs.get(queue, queue)

    def names(self, queue: str) -> list[str]:
        """The queue's own and its former ones."""
        return [queue, *(former for former, heir in self._heirs.items() if heir == queue)]

    def any_of(self, queue: str) -> dict[str, Any] | None:
        """The queue's, or else the workflow's; None before either is read."""
        return self._owners.get(queue) or self._owners.get(self._workflow)

    def have(self, metadata: Metadata) -> bool:
        """The object belongs to one of them."""
        uids = {reference.uid for reference in metadata.owner_references or ()}
        return any(owner["uid"] in uids for owner in self._owners.values())

    def all(self) -> list[dict[str, Any]]:
        """Each once."""
        return list({owner["uid"]: owner for owner in self._owners.values()}.values())

    async def _applied(self, name: str) -> ConfigMap:
        found = await self._maps.get(name)
        if found is None:
            raise LookupError(f"there is no ConfigMap {name}; is what wqc built applied?")
        return found


def _reference(found: ConfigMap) -> dict[str, Any]:
    """By which Jobs and ConfigMaps belong to it."""
    name, uid = found.metadata.name, found.metadata.uid
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "controller": True}
