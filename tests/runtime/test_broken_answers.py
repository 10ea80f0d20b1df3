"""Whatever an API server's answer is, who asks gets an ApiError, which is waited out."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3

from wqc.runtime.stores.kubernetes.objects import Pod, Pods
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport
from wqc.runtime.stores.kubernetes.watching import Followed, follow


class Broken:
    """A refusal that breaks off."""

    status = 500

    def read(self, **given: Any) -> bytes:
        raise urllib3.exceptions.ProtocolError("connection reset")

    def release_conn(self) -> None: ...


class Breaking(Transport):
    def __init__(self) -> None:
        nobody: Any = None
        super().__init__(nobody)

    def _send(self, *given: Any) -> Any:
        return Broken()


def test_a_watch_that_is_refused_by_half_an_answer() -> None:
    with pytest.raises(ApiError, match="broke off"):
        Breaking().stream("/pods", {}, 70.0)


class Empty:
    """A watch that ends at once, as behind a proxy that is being drained."""

    status = 200

    def stream(self, **given: Any) -> Iterator[bytes]:
        return iter(())

    def shutdown(self) -> None: ...


class Draining(Transport):
    opened = 0

    def __init__(self) -> None:
        nobody: Any = None
        super().__init__(nobody)

    def _ask(self, *given: Any) -> bytes:
        return b'{"metadata":{"resourceVersion":"1"},"items":[]}'

    def _send(self, *given: Any) -> Any:
        self.opened += 1
        return Empty()


def test_a_watch_that_ends_at_once_is_not_begun_again_at_once() -> None:
    async def scenario() -> None:
        def nothing(*given: Any) -> None: ...

        transport = Draining()
        told = Followed[Pod](nothing, nothing, nothing, nothing, nothing)
        task = asyncio.create_task(follow(transport, "/pods", {}, Pods, Pod, told, 600.0))
        await asyncio.sleep(2.5)
        task.cancel()
        assert 2 <= transport.opened <= 3

    asyncio.run(scenario())
