"""What wqc says of files with mistakes, to the letter. `make bad` writes it anew, people read the diff."""

import difflib
import re
import sys
from pathlib import Path

import pytest

import wqc.diagnostics.mistakes  # fills MISTAKES
from wqc.diagnostics.mistake import MISTAKES

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from refresh_bad import FOLDER, cases, main, said  # noqa: E402  (tools/ is no package)

NOT_KEPT = {"WQ113"}
"""A file of over 4 MiB: see below."""


@pytest.mark.parametrize("case", cases(), ids=lambda path: path.stem)
def test_says_what_was_reviewed(case: Path) -> None:
    reviewed = case.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    now = said(case).splitlines()
    assert now == reviewed, "\n".join(difflib.unified_diff(reviewed, now, "reviewed", "now", lineterm=""))


def test_every_code_is_said_somewhere() -> None:
    told = {
        code
        for path in FOLDER.glob("*.txt")
        for code in re.findall(r"^(?:error|warning|note)\[(WQ\d+)\]", path.read_text(encoding="utf-8"), re.M)
    }
    assert wqc.diagnostics.mistakes.__all__
    assert set(MISTAKES) - told == NOT_KEPT, "a code without a file in tests/bad"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    case = tmp_path / "large.wq"
    case.write_text("workflow w\n" + "# and so on\n" * 400_000, encoding="utf-8")
    assert said(case) == (
        "error[WQ113]: a file may have 4,194,304 characters and this one has 4,800,011\n"
        " --> large.wq:1:1\n"
        "  |\n"
        "1 | workflow w\n"
        "  | ^\n"
        "  |\n"
        "help: divide it into several workflows\n"
        "\n"
        "1 error\n"
    )


def test_nothing_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {case.stem for case in cases()}
    texts = "".join(case.read_text(encoding="utf-8") for case in cases())
    unread = [path.name for path in (FOLDER / "parts").iterdir() if f"parts/{path.name}" not in texts]
    assert unread == [], "no file of tests/bad reads these"


def test_ci_does_not_rewrite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CI", "true")
    before = {path: path.read_bytes() for path in FOLDER.iterdir() if path.is_file()}
    assert main([]) == 2
    assert "CI does not rewrite it" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in FOLDER.iterdir() if path.is_file()} == before
