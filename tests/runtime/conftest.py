"""Servers that are started once for many tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.kafka import Kafka, kafka_server
from support.s3 import S3, s3_server


@pytest.fixture(scope="session")
def many_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred thousand, in a folder that an S3 server takes for a bucket.

    From `00/holiday-in-the-mountains-00000.mp4` on, empty; the server finds an ETag at each.
    """
    root = tmp_path_factory.mktemp("buckets") / "many"
    for number in range(100):
        folder = root / f"{number:02}"
        folder.mkdir(parents=True)
        names = [folder / f"holiday-in-the-mountains-{number:02}{file:03}.mp4" for file in range(1000)]
        names[0].touch()
        os.setxattr(names[0], "user.etag", f'"{number:032x}"'.encode())
        # links are made sooner than files, and look the same
        for name in names[1:]:
            name.hardlink_to(names[0])
    return root


@pytest.fixture(scope="session")
def store(many_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with s3_server(many_files.parent, tmp_path_factory.mktemp("s3") / "log") as running:
        yield running


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Each test has topics of its own."""
    with kafka_server(tmp_path_factory.mktemp("kafka")) as running:
        yield running
