"""What is slow to import is imported only by commands that need it."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "aiohttp",
    "cel_expr_python",
    "jinja2",
    "kubernetes",
    "lark",
    "msgspec",
    "networkx",
    "shtab",
    "yaml",
}


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["explain", "WQ201"], ["schema"], ["fmt", "--check", "w.wq"]]
)
def test_light_commands_import_no_heavy_library(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text("workflow w\n")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "wqc", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "wqc" in imported
    assert imported & HEAVY == set()
