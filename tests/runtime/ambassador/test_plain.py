"""The book's two addresses are enough: its own source and manager, written anew, against ours."""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import plain_source
from support.ambassador import ambassador, source_settings
from support.localrun import queue_files, until_idle
from support.plain_manager import data_of, listed
from support.ports import free_port
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError


@contextmanager
def plain_source_over(folder: Path) -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, plain_source.__file__, str(port), str(folder)])
    url = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 30
        while True:
            try:
                asyncio.run(HttpSource(url, 5).list())
                break
            except SourceError:
                assert time.monotonic() < until
                time.sleep(0.05)
        yield url
    finally:
        process.kill()
        process.wait()


FILMS = ["a b.mp4", "é☃.mp4", "new\nline.mp4", "50%2F.mp4"]


def test_a_plain_source_under_our_client(tmp_path: Path) -> None:
    for film in FILMS:
        (tmp_path / film).touch()

    async def ask(url: str) -> None:
        source = HttpSource(url, 5)
        for _ in range(2):
            assert await source.list() == Listing(dict.fromkeys(sorted(FILMS), ""))
        for film in FILMS:
            assert json.loads(await source.get(film)) == {"file": str(tmp_path / film)}
        with pytest.raises(NoSuchItem):
            await source.get("absent.mp4")

    with plain_source_over(tmp_path) as url:
        asyncio.run(ask(url))


def test_a_plain_source_under_our_manager(tmp_path: Path) -> None:
    media, out = tmp_path / "media", tmp_path / "out"
    media.mkdir()
    out.mkdir()
    for film in FILMS:
        (media / film).touch()
    workflow = Workflow("films")
    workflow.queue("note", workflow.source("films"))
    script = f'cat "$WORK_ITEM_FILE" > "$(mktemp {out}/XXXXXX)"'
    with plain_source_over(media) as url:
        status = asyncio.run(
            until_idle(
                workflow, tmp_path / "s", {"note": queue_files("note", script)}, {"films": HttpSource(url, 5)}
            )
        )
    assert status.queues[0].done == len(FILMS)
    noted = Counter(json.loads(path.read_text())["file"] for path in out.iterdir())
    assert noted == Counter(str(media / film) for film in FILMS)


def test_our_source_under_a_plain_manager(tmp_path: Path) -> None:
    items = {"item-1": {"some": "json"}, "a/b c☃": "text", "..": None}
    source_settings(tmp_path, "names", "items", items=items)
    with ambassador(["source", "names"], tmp_path) as served:
        assert listed(served.url) == list(items)
        for name in ("item-1", "a/b c☃"):
            assert data_of(served.url, name) == items[name]
