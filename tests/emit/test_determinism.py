"""The same bytes whatever the hash seed and the locale."""

import os
import subprocess
import sys

import pytest

from support.built import EVERYTHING


def built(**environment: str) -> bytes:
    command = [sys.executable, "-m", "wqc", "build", "--stdout", str(EVERYTHING)]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def usual() -> bytes:
    return built(PYTHONHASHSEED="0")


@pytest.mark.parametrize("seed", ["1", "424242"])
@pytest.mark.parametrize("locale", ["C", "tr_TR.UTF-8"])
def test_the_same_bytes(usual: bytes, seed: str, locale: str) -> None:
    assert built(PYTHONHASHSEED=seed, LC_ALL=locale, LANG=locale) == usual
