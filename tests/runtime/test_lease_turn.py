"""The lease is renewed in time though other requests are slow, as behind a slow admission webhook."""

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from wqc.runtime.stores.kubernetes.lease import Lease
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport

LEASE = b'{"metadata":{"name":"w","resourceVersion":"1"},"spec":{"holderIdentity":"me"}}'


class SlowJobs(Transport):
    def __init__(self) -> None:
        nobody: Any = None
        super().__init__(nobody)

    def _ask(self, method: str, path: str, query: Mapping[str, str], *more: Any) -> bytes:
        if path.endswith("/jobs"):
            time.sleep(0.5)
            raise ApiError(0, "no answer in time")
        if method == "GET":
            raise ApiError(404, "there is none")
        return LEASE


def test_it_waits_for_no_other_request() -> None:
    async def scenario() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        transport = SlowJobs()
        creates = [asyncio.create_task(transport.ask("POST", "/jobs")) for _ in range(20)]
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await Lease(transport, "default", "w", "me", 15).acquire()
        assert time.monotonic() - began < 1.0
        await asyncio.gather(*creates, return_exceptions=True)

    asyncio.run(scenario())
