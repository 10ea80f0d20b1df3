"""A hundred thousand files, made once."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def many_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`00/0000.mp4` to `99/0999.mp4`, empty."""
    root = tmp_path_factory.mktemp("many")
    for number in range(100):
        folder = root / f"{number:02}"
        folder.mkdir()
        for file in range(1000):
            os.close(os.open(folder / f"{file:04}.mp4", os.O_CREAT))
    return root
