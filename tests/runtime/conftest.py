"""A hundred thousand files, made once, in a folder that an S3 server takes for a bucket."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.s3 import S3, s3_server


@pytest.fixture(scope="session")
def many_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """From `00/holiday-in-the-mountains-00000.mp4` on, empty; the server finds an ETag at each."""
    root = tmp_path_factory.mktemp("buckets") / "many"
    for number in range(100):
        folder = root / f"{number:02}"
        folder.mkdir(parents=True)
        for file in range(1000):
            path = folder / f"holiday-in-the-mountains-{number:02}{file:03}.mp4"
            path.touch()
            os.setxattr(path, "user.etag", f'"{number:016x}{file:016x}"'.encode())
    return root


@pytest.fixture(scope="session")
def store(many_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with s3_server(many_files.parent, tmp_path_factory.mktemp("s3") / "log") as running:
        yield running
