"""One manager at a time, by a Lease (https://kubernetes.io/docs/concepts/architecture/leases/).

Times of other machines are never compared with our own: a Lease is over when nobody has renewed it for its
duration as seen from here, on the monotonic clock.
"""

import asyncio
import logging
import time
from datetime import UTC, datetime
from typing import Any

import msgspec

from wqc.runtime.logs import log
from wqc.runtime.stores.kubernetes.objects import Metadata
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport
from wqc.runtime.stores.kubernetes.watching import decoded


class LeaseLost(Exception):
    """Another manager has the Lease, or it could not be renewed in time. This one must stop."""


TRIES = 3


class LeaseSpec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class LeaseObject(msgspec.Struct):
    metadata: Metadata
    spec: LeaseSpec


class Lease:
    """`holder` names this process; `duration` in whole seconds."""

    def __init__(self, transport: Transport, namespace: str, name: str, holder: str, duration: int) -> None:
        self._transport = transport
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._name = name
        self._holder = holder
        self._duration = duration
        self._renewed = float("-inf")
        self._version = ""
        self._transitions = 0
        self._seen: tuple[str | None, str | None] = (None, None)
        self._seen_at = 0.0

    @property
    def is_held(self) -> bool:
        """Whether something may be written; a third of the duration is left for a write that is under way."""
        return time.monotonic() < self._renewed + self._duration * 2 / 3

    async def acquire(self) -> None:
        """Wait until this process has it."""
        said = ""
        while True:
            try:
                holder = await self._try()
            except ApiError as error:
                holder = f"nobody knows whom: {error}"
            if holder is None:
                return
            if holder != said:
                log(logging.INFO, "waits for the lease", holder=holder)
            said = holder
            await asyncio.sleep(self._duration / 5)

    async def keep(self) -> None:
        """Renew it again and again. Raises LeaseLost."""
        pause = self._duration / 3
        while True:
            await asyncio.sleep(pause)
            try:
                holder = await self._try()
                pause = self._duration / 3
            except ApiError as error:
                log(logging.WARNING, "the lease can't be renewed", reason=str(error))
                holder = None
                pause = min(max(self._duration / 15, error.retry_after or 0.0), self._duration / 3)
            if holder is not None:
                raise LeaseLost(f"{holder} has the lease")
            if not self.is_held:
                raise LeaseLost("the lease could not be renewed in time")

    async def release(self) -> None:
        """So that the next manager needn't wait for it to run out."""
        if not self.is_held:
            return
        try:
            await self._give_up()
        except ApiError as error:
            log(logging.WARNING, "the lease can't be released", reason=str(error))
        self._renewed = float("-inf")

    async def _give_up(self) -> None:
        """Raises ApiError."""
        version = self._version
        for _ in range(TRIES):
            try:
                await self._write("", self._transitions, version)
                return
            except ApiError as error:
                if error.status != 409:
                    raise
            # a renewal that was cut off has come through
            found = await self._read()
            if found is None or found.spec.holder_identity != self._holder:
                return
            version = found.metadata.resource_version
        raise ApiError(409, "it changes all the time")

    async def _try(self) -> str | None:
        """Take or renew it; the holder's name if that is another. Raises ApiError."""
        begun = time.monotonic()
        found = await self._read()
        spec = found.spec if found else LeaseSpec()
        if found and spec.holder_identity not in (None, "", self._holder) and not self._is_over(spec):
            return spec.holder_identity
        transitions = (spec.lease_transitions or 0) + (spec.holder_identity != self._holder)
        try:
            await self._write(self._holder, transitions, found.metadata.resource_version if found else "")
        except ApiError as error:
            if error.status == 409:
                return "another one, just now"
            raise
        self._renewed = begun
        return None

    def _is_over(self, spec: LeaseSpec) -> bool:
        seen = (spec.holder_identity, spec.renew_time)
        if seen != self._seen:
            self._seen, self._seen_at = seen, time.monotonic()
        return time.monotonic() >= self._seen_at + (spec.lease_duration_seconds or self._duration)

    async def _read(self) -> LeaseObject | None:
        try:
            answer = await self._transport.ask("GET", f"{self._collection}/{self._name}", at_once=True)
            return decoded(answer, LeaseObject)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    async def _write(self, holder: str, transitions: int, version: str) -> None:
        """`version` "" creates it. Raises ApiError."""
        body: dict[str, Any] = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._name} | ({"resourceVersion": version} if version else {}),
            "spec": {
                "holderIdentity": holder,
                "leaseDurationSeconds": self._duration,
                "renewTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                "leaseTransitions": transitions,
            },
        }
        method, path = ("PUT", f"{self._collection}/{self._name}") if version else ("POST", self._collection)
        answer = decoded(await self._transport.ask(method, path, body=body, at_once=True), LeaseObject)
        self._version = answer.metadata.resource_version
        self._transitions = transitions
