"""Whatever an API server's answer is, who asks gets an ApiError, which is waited out."""

from typing import Any

import pytest
import urllib3

from wqc.runtime.stores.kubernetes.transport import ApiError, Transport


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
