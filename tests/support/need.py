"""What a test needs and this machine may lack."""

import os
from typing import NoReturn

import pytest


def unavailable(reason: str) -> NoReturn:
    """Skip with a line that says what is missing; where CI is set, fail: a skip there hides a test."""
    if os.environ.get("CI"):
        pytest.fail(f"needed in CI: {reason}", pytrace=False)
    pytest.skip(reason)
