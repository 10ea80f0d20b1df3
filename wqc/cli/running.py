"""Workflows that run: in a namespace of a cluster, or on this machine in the folder of `wqc run`."""

import fcntl
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from wqc.cli.ending import Trouble

if TYPE_CHECKING:
    from wqc.runtime.manager.status import Report, Status
    from wqc.runtime.stores.kubernetes.transport import Transport
    from wqc.runtime.stores.state import StateStore

TAIL = 5
"""Lines of a failed worker's log that are shown."""
TAIL_BYTES = 64 * 1024
"""That are read for them: a line may be as long as its worker likes."""
LINE_SHOWN = 300
"""Characters of each."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", "--namespace", metavar="NS", help="where it runs (default: the kubeconfig's)")
    parser.add_argument(
        "--state", metavar="DIR", type=Path, help="it runs on this machine, with its state in DIR"
    )


class NeverRan(Trouble):
    """Nothing of that name has run there yet."""


class Place(Protocol):
    """Where workflows run. All methods raise Trouble."""

    where: str
    """For people."""

    async def workflows(self) -> list[str]: ...

    def state(self, workflow: str) -> "StateStore": ...

    async def is_managed(self, workflow: str) -> bool | None:
        """Whether a manager runs it; None if nobody may know."""
        ...

    async def log_tail(self, workflow: str, job: str) -> str:
        """The end of what the Job's worker wrote; "" if that is gone."""
        ...


def place(arguments: Namespace) -> Place:
    if arguments.state is not None:
        if arguments.namespace is not None:
            raise Trouble("--namespace is for a cluster, --state for this machine: give one of them")
        return Folder(arguments.state)
    return cluster(arguments.namespace)


class Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.where = str(folder)

    async def workflows(self) -> list[str]:
        if not self._folder.is_dir():
            raise NeverRan(f"there is no folder {self._folder}; wqc run makes one")
        if (self._folder / "state.json").exists():
            raise Trouble(
                f"{self._folder} is one workflow's own; --state {self._folder.absolute().parent} has it"
            )
        return sorted(path.parent.name for path in self._folder.glob("*/state.json"))

    def state(self, workflow: str) -> "StateStore":
        from wqc.runtime.stores.local.state import LocalStateStore

        return LocalStateStore(self._folder / workflow)

    async def is_managed(self, workflow: str) -> bool | None:
        try:
            lock = os.open(self._folder / workflow / "lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(lock)

    async def log_tail(self, workflow: str, job: str) -> str:
        try:
            with (self._folder / workflow / "jobs" / job / "log").open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
                return file.read(TAIL_BYTES).decode(errors="replace")
        except OSError:
            return ""


class Cluster:
    def __init__(self, transport: "Transport", namespace: str) -> None:
        self._transport = transport
        self._namespace = namespace
        self.where = f"namespace {namespace}"

    async def workflows(self) -> list[str]:
        from wqc.contract.names import STATE, WORKFLOW_LABEL, object_name
        from wqc.runtime.stores.kubernetes.maps import ONLY_METADATA

        # the records of finished items and large items are ConfigMaps with this label too
        found = await self._get("/api/v1", "configmaps", ONLY_METADATA, labelSelector=WORKFLOW_LABEL)
        named = [(each["metadata"]["labels"][WORKFLOW_LABEL], each["metadata"]["name"]) for each in found]
        return sorted(workflow for workflow, name in named if name == object_name(workflow, STATE))

    def state(self, workflow: str) -> "StateStore":
        from wqc.runtime.stores.kubernetes.state import KubernetesStateStore

        return KubernetesStateStore(self._transport, self._namespace, workflow)

    async def is_managed(self, workflow: str) -> bool | None:
        from wqc.contract.names import object_name

        name = object_name(workflow, "manager")
        try:
            leases = await self._get(
                "/apis/coordination.k8s.io/v1", "leases", fieldSelector=f"metadata.name={name}"
            )
        except Trouble:
            return None
        spec = leases[0]["spec"] if leases else {}
        if not spec.get("holderIdentity"):
            return False
        renewed = datetime.fromisoformat(spec["renewTime"].replace("Z", "+00:00"))
        age = (datetime.now(UTC) - renewed).total_seconds()
        return bool(age < 60 + 2 * spec["leaseDurationSeconds"])  # this machine's clock isn't the cluster's

    async def log_tail(self, workflow: str, job: str) -> str:
        from wqc.runtime.stores.kubernetes.transport import ApiError

        try:
            pods = await self._get("/api/v1", "pods", labelSelector=f"batch.kubernetes.io/job-name={job}")
            if not pods:
                return ""
            path = f"/api/v1/namespaces/{self._namespace}/pods/{pods[-1]['metadata']['name']}/log"
            query = {"container": "worker", "tailLines": str(TAIL), "limitBytes": str(TAIL_BYTES)}
            content: bytes = await self._transport.ask("GET", path, query)
        except (Trouble, ApiError):
            return ""
        return content.decode(errors="replace")

    async def _get(self, group: str, kind: str, accept: str = "application/json", **query: str) -> list[Any]:
        import json

        from wqc.runtime.stores.kubernetes.transport import ApiError
        from wqc.runtime.stores.kubernetes.watching import PAGE

        path = f"{group}/namespaces/{self._namespace}/{kind}"
        asked = query | {"limit": str(PAGE)}
        items: list[Any] = []
        while True:
            try:
                page = json.loads(await self._transport.ask("GET", path, asked, accept=accept))
            except ApiError as error:
                raise Trouble(f"{self.where}: {error}") from None
            items += page["items"] or ()  # null where metadata alone is asked for and there is none
            following = page["metadata"].get("continue")
            if not following:
                return items
            asked["continue"] = following


def cluster(namespace: str | None) -> Cluster:
    from wqc.runtime.stores.kubernetes.connection import NoCluster, connect

    try:
        transport, default = connect()
    except NoCluster as error:
        here = "; what `wqc run` does here is found with --state .wqc" if Path(".wqc").is_dir() else ""
        raise Trouble(f"{error}{here}") from None
    return Cluster(transport, namespace or default)


@contextmanager
def asking(where: str) -> Iterator[None]:
    """What a store refuses, as trouble."""
    from wqc.runtime.stores.state import Conflict
    from wqc.runtime.stores.store import Refused

    try:
        yield
    except (Refused, Conflict) as error:
        raise Trouble(f"{where}: {error}") from None


async def read_report(found: Place, workflow: str) -> "Report | None":
    """What its manager said last; None if it never said anything. Raises Trouble."""
    return report_in(await read_entries(found, workflow), workflow)


async def read_entries(found: Place, workflow: str) -> Mapping[str, str]:
    """Its state. Raises Trouble."""
    with asking(found.where):
        return (await found.state(workflow).read()).entries


def report_in(entries: Mapping[str, str], workflow: str) -> "Report | None":
    """As `read_report`."""
    from wqc.runtime.manager.status import STATUS, decode_report

    text = entries.get(STATUS)
    try:
        return None if text is None else decode_report(text)
    except ValueError as error:
        raise Trouble(f"{workflow}: its state is of another version of wqc: {error}") from None


async def log_tails(found: Place, workflow: str, status: "Status") -> dict[str, list[str]]:
    """By the Job that holds a failed item, the last lines that its worker wrote."""
    tails: dict[str, list[str]] = {}
    for queue in status.queues:
        for failure in queue.failures:
            text = await found.log_tail(workflow, failure.job) or failure.message
            tails[failure.job] = [_cut(line) for line in text.rstrip().splitlines()[-TAIL:]]
    return tails


def _cut(line: str) -> str:
    return line if len(line) <= LINE_SHOWN else f"{line[:LINE_SHOWN]}…"
