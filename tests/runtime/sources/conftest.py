"""A Redis server for each file; those of other brokers have their own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.redis_server import PASSWORD, RedisServer, redis_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as started:
        yield started


@pytest.fixture
def password(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    return {"auth": {"file": str(tmp_path / "password")}}
