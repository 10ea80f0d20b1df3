"""What only Events say: why a Job gets no pod (quota, admission), and why a pod does not start (mounts)."""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

import msgspec

from wqc.runtime.logs import log
from wqc.runtime.obstacles import Kind, Obstacle
from wqc.runtime.stores.kubernetes.objects import ListMetadata, Metadata
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport
from wqc.runtime.stores.kubernetes.watching import decoded

HINDERING: dict[str, Kind] = {
    "FailedAttachVolume": "volume",
    "FailedCreate": "admission",
    "FailedCreatePodSandBox": "node",
    "FailedMapVolume": "volume",
    "FailedMount": "volume",
}

_ONE_OF_MANY = re.compile(r'pods "[^"]*" is')
"""Each try has another name."""


class Series(msgspec.Struct, rename="camel"):
    last_observed_time: datetime | None = None


class EventObject(msgspec.Struct, rename="camel"):
    metadata: Metadata
    reason: str = ""
    message: str = ""
    event_time: datetime | None = None
    last_timestamp: datetime | None = None
    series: Series | None = None

    @property
    def last(self) -> float:
        """When it was seen last, in seconds since the epoch."""
        times = [
            self.series.last_observed_time if self.series else None,
            self.last_timestamp,
            self.event_time,
        ]
        return max((time.timestamp() for time in times if time), default=0.0)


class EventObjects(msgspec.Struct):
    metadata: ListMetadata
    items: list[EventObject]


async def last_warning(transport: Transport, namespace: str, kind: str, name: str) -> Obstacle | None:
    """The newest reason why the object doesn't get on, as far as one is known. Raises ApiError."""
    selector = f"involvedObject.kind={kind},involvedObject.name={name},type=Warning"
    path = f"/api/v1/namespaces/{namespace}/events"
    found = decoded(await transport.ask("GET", path, {"fieldSelector": selector}), EventObjects)
    hindering = [each for each in found.items if each.reason in HINDERING]
    newest = max(hindering, key=lambda each: each.last, default=None)
    if newest is None:
        return None
    why = _ONE_OF_MANY.sub("its pod is", f"{newest.reason}: {newest.message}")
    return Obstacle(HINDERING[newest.reason], why)


@dataclass(frozen=True, slots=True)
class Stalled:
    """A Job without a running container. `pod` is "" where it has none."""

    job: str
    pod: str
    lane: tuple[str, str]
    """Its queue and the lane."""


class Warnings:
    """`waiting`: the Jobs that don't get on. `warned` is told of one about which there is something new."""

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        patience: float,
        waiting: Callable[[], Iterable[Stalled]],
        warned: Callable[[str], None],
    ) -> None:
        self._transport = transport
        self._namespace = namespace
        self._patience = patience
        self._waiting = waiting
        self._warned = warned
        self._found: dict[str, tuple[str, Obstacle | None]] = {}
        """By Job: the pod, and why it doesn't start."""
        self._since: dict[str, float] = {}
        """By Job, when it was first seen waiting, on the monotonic clock."""

    def of(self, job: str, pod: str) -> Obstacle | None:
        """Why it doesn't start, if that is known and still about this pod."""
        about, why = self._found.get(job, ("", None))
        return why if about == pod else None

    async def follow(self) -> None:
        """Ask for one Job of each lane, again and again: what is in its way is in the way of all."""
        while True:
            await asyncio.sleep(self._patience)
            oldest: dict[tuple[str, str], Stalled] = {}
            waiting = {each.job: each for each in self._waiting()}
            self._found = {job: found for job, found in self._found.items() if job in waiting}
            now = time.monotonic()
            self._since = {job: self._since.get(job, now) for job in waiting}
            for job, each in waiting.items():
                if self._since[job] <= now - self._patience:
                    oldest.setdefault(each.lane, each)
            for each in oldest.values():
                await self._ask(each)

    async def _ask(self, stalled: Stalled) -> None:
        kind, name = ("Pod", stalled.pod) if stalled.pod else ("Job", stalled.job)
        try:
            why = await last_warning(self._transport, self._namespace, kind, name)
        except ApiError as error:
            log(logging.WARNING, "can't ask why nothing runs", job=stalled.job, reason=str(error))
            return
        found = (stalled.pod, why)
        if self._found.get(stalled.job, ("", None)) != found:
            self._found[stalled.job] = found
            self._warned(stalled.job)
