"""Writes beside each tests/bad/NAME.wq what wqc says of it, for people to review: tests/bad/NAME.txt.

A file is checked with all notes, or, where its first line is `# $ wqc WORDS`, given to that command. Those
in tests/bad/parts/ are imported, or belong to an earlier build.

usage: refresh_bad.py [--check]    --check writes nothing and exits 1 if anything is out of date
"""

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from wqc.cli.main import main as wqc

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "bad"
_COMMAND = "# $ wqc "


def cases() -> list[Path]:
    return sorted(FOLDER.glob("*.wq"))


def said(case: Path) -> str:
    """What people see on their screen, both streams."""
    first = case.read_text(encoding="utf-8").partition("\n")[0]
    words = first.removeprefix(_COMMAND).split() if first.startswith(_COMMAND) else ["check", "--notes"]
    screen = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with chdir(case.parent), redirect_stdout(screen), redirect_stderr(screen):
        status = wqc([*words, case.name])
    screen.seek(0)
    text = screen.read()
    if status > 1:
        raise ValueError(f"{case.name}: exit code {int(status)}: {text}")
    return text


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    if not check and os.environ.get("CI"):
        print("tests/bad/ is reviewed by people: CI does not rewrite it", file=sys.stderr)
        return 2
    stale = False
    for case in cases():
        text, expected = case.with_suffix(".txt"), said(case)
        if not text.exists() or text.read_text(encoding="utf-8") != expected:
            stale = True
            print(f"{text.name}: {'out of date' if check else 'written'}")
            if not check:
                text.write_text(expected, encoding="utf-8")
    for text in sorted(FOLDER.glob("*.txt")):
        if not text.with_suffix(".wq").exists():
            stale = True
            print(f"{text.name}: nothing says this any more")
            if not check:
                text.unlink()
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
