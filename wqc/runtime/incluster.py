"""A workflow on the cluster that this process belongs to, or that the kubeconfig names."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from wqc.contract.names import object_name
from wqc.contract.pod import MANAGER_PORT, SETTINGS_FOLDER
from wqc.runtime.carriers.carrier import Carrier
from wqc.runtime.carriers.http import HttpCarrier
from wqc.runtime.carriers.opening import open_carrier
from wqc.runtime.graph.graph import Port
from wqc.runtime.graph.workflow import SourceNode, Workflow
from wqc.runtime.httpserver import HttpServer
from wqc.runtime.logs import log, log_as_json
from wqc.runtime.manager.lineage import OwnerGone
from wqc.runtime.manager.manager import Manager
from wqc.runtime.manager.probes import Probes
from wqc.runtime.periods import Periods, periods_from
from wqc.runtime.settings import read_carrier_settings, read_source_settings
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.opening import open_source
from wqc.runtime.sources.source import Source, SourceError
from wqc.runtime.stores.kubernetes.connection import NoCluster, connect
from wqc.runtime.stores.kubernetes.lease import Lease, LeaseLost
from wqc.runtime.stores.kubernetes.state import KubernetesStateStore
from wqc.runtime.stores.kubernetes.store import KubernetesStore

_WRONG = (NoCluster, LookupError, ValueError, SourceError)
"""It is wrongly configured."""
_ANEW = (LeaseLost, OwnerGone)
"""It has to start anew."""


def run_in_cluster(workflow: Workflow) -> int:
    """The exit code: 0 when told to stop, 1 if it has to start anew, 2 if it is wrongly configured."""
    log_as_json()
    try:
        asyncio.run(_run(workflow))
    except (*_WRONG, *_ANEW, ExceptionGroup) as error:
        return ended_by(error, workflow.name)
    return 0


def ended_by(error: Exception, workflow: str) -> int:
    """The exit code; each cause is told. Raises `error` if that has a cause which is nobody's but ours."""
    causes = list(_causes(error))
    if not all(isinstance(cause, (*_WRONG, *_ANEW)) for cause in causes):
        raise error
    for cause in causes:
        log(logging.ERROR, str(cause), workflow=workflow)
    return 1 if any(isinstance(cause, _ANEW) for cause in causes) else 2


def _causes(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for each in error.exceptions:
            yield from _causes(each)
    else:
        yield error


async def _run(workflow: Workflow) -> None:
    periods = periods_from()
    transport, namespace = connect()
    sources = {
        port: _source(node, port, periods) for node in workflow.sources.values() for port in node.ports()
    }
    holder = f"{socket.gethostname()}_{uuid4().hex[:8]}"
    name = object_name(workflow.name, "manager")
    lease = Lease(transport, namespace, name, holder, max(1, round(periods.lease)))
    store = KubernetesStore(
        transport, namespace, workflow.name, lambda: lease.is_held, periods.patience, periods.audit
    )
    state = KubernetesStateStore(
        transport, namespace, workflow.name, lambda: lease.is_held, store.owners, periods.audit
    )
    carriers = {carrier: _carrier(carrier, url, periods) for carrier, url in workflow.carriers.items()}
    managing = Manager(workflow, store, state, sources, periods, carriers)
    loop = asyncio.get_running_loop()
    port = int(os.environ.get("WQC_PORT", MANAGER_PORT))
    server = HttpServer("", port, Probes(workflow.name, managing.status, transport.traffic, loop).respond)
    manager = asyncio.create_task(_alone(lease, managing))
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    stopping = asyncio.create_task(stopped.wait())
    log(logging.INFO, "manager starts", workflow=workflow.name, namespace=namespace)
    try:
        await asyncio.wait((manager, stopping), return_when=asyncio.FIRST_COMPLETED)
        if manager.done():
            manager.result()
    finally:
        manager.cancel()
        stopping.cancel()
        await asyncio.gather(manager, stopping, return_exceptions=True)
        await store.close()
        await state.close()
        # brokers are told what is done while nobody else may be
        for source in sources.values():
            await source.close()
        for carrier in carriers.values():
            await carrier.close()
        await lease.release()
        server.close()


async def _alone(lease: Lease, managing: Manager) -> None:
    """Run the manager while it holds the lease. Raises LeaseLost, OwnerGone, and what the manager raises."""
    await lease.acquire()
    tasks = [asyncio.create_task(each) for each in (managing.run(), managing.guard(), lease.keep())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _source(node: SourceNode, port: Port, periods: Periods) -> Source:
    """An ambassador's, or one that needs nothing but its settings."""
    if node.url:
        return HttpSource(f"{node.url}/{port.output}" if port.output else node.url, periods.request)
    return open_source(read_source_settings(_settings(node.name, "source.yaml")), port.output, periods)


def _carrier(name: str, url: str | None, periods: Periods) -> Carrier:
    if url:
        return HttpCarrier(url, periods.request)
    return open_carrier(read_carrier_settings(_settings(name, "carrier.yaml")), periods)


def _settings(node: str, file: str) -> str:
    path = Path(os.environ.get("WQC_SETTINGS", SETTINGS_FOLDER), node, file)
    try:
        return path.read_text()
    except OSError as error:
        raise SourceError(f"{path} can't be read: {error.strerror}") from None
