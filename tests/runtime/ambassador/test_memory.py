"""An ambassador with a hundred thousand items stays below the memory that its container has by default."""

import time
from pathlib import Path

import pytest

from support.ambassador import Ambassador, ambassador, source_settings
from support.memory import allowed, peak_of
from support.s3 import ACCESS_KEY, S3, SECRET_KEY


def list_in_pages(served: Ambassador) -> int:
    """As the manager does; what takes longer than its patience is asked for again."""
    until = time.monotonic() + 300
    count = 0
    query = "limit=5000"
    while query:
        reply = served.ask(f"/api/v1/items?{query}")
        assert reply.status in (200, 503), reply.body
        assert time.monotonic() < until, reply.body
        if reply.status == 200:
            count += len(reply.body["items"])
            query = f"limit=5000&continue={reply.body['continue']}" if "continue" in reply.body else ""
    return count


@pytest.mark.parametrize("kind", ["files", "object_store"])
def test_a_hundred_thousand_items(kind: str, store: S3, tmp_path: Path) -> None:
    if kind == "files":
        options = {"path": str(store.folder / "many"), "match": "**", "quiet": 0}
    else:
        for name, value in (("id", ACCESS_KEY), ("key", SECRET_KEY)):
            (tmp_path / name).write_text(value)
        keys = {"access_key": {"file": str(tmp_path / "id")}, "secret_key": {"file": str(tmp_path / "key")}}
        options = {"endpoint": store.endpoint, "bucket": "many"} | keys
    source_settings(tmp_path, "many", kind, **options)
    with ambassador(["source", "many"], tmp_path, WQC_PERIODS="rest=0") as served, peak_of(served) as peak:
        assert list_in_pages(served) == 100_000
        (store.folder / "many" / "new.mp4").touch()
        # the first listing stands until the next one is there
        until = time.monotonic() + 300
        while (count := list_in_pages(served)) != 100_001:
            assert count == 100_000
            assert time.monotonic() < until
        (store.folder / "many" / "new.mp4").unlink()
    print(f"{kind}: at most {peak[0] / 2**20:.0f} MiB")
    assert peak[0] < allowed(kind)
