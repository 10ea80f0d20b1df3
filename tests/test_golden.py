"""golden/ is what the examples compile to today; `make golden` writes it anew, and people read the diff."""

import difflib
import io
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from wqc.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.wq"))


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_output_is_the_reviewed_one(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)  # a build may say in its output where it came from
    words = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(words), redirect_stderr(words):
        status = main(["build", os.fspath(example.relative_to(ROOT)), "-o", os.fspath(tmp_path)])
    words.seek(0)
    assert status == 0, words.read()
    reviewed, built = files(ROOT / "golden" / example.stem), files(tmp_path / example.stem)
    assert sorted(built) == sorted(reviewed)
    for name in sorted(built):
        before, after = reviewed[name].splitlines(), built[name].splitlines()
        assert built[name] == reviewed[name], "\n".join(difflib.unified_diff(before, after, name, name))


def test_every_golden_has_its_example() -> None:
    assert {path.name for path in (ROOT / "golden").glob("*")} == {example.stem for example in EXAMPLES}
