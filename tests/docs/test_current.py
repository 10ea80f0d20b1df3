"""What the documentation shows of commands is what they print. `make docs` refreshes it."""

import sys
from pathlib import Path

import pytest

from support.need import unavailable

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from refresh_docs import documents, refreshed  # noqa: E402  (tools/ is no package)


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_shows_what_its_commands_print(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    fresh = refreshed(text)
    assert text == fresh.text, "run: make docs"
    if fresh.missing:
        unavailable("; ".join(fresh.missing))
