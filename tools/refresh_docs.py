"""Puts what commands print into the documentation, so that it shows what really comes out.

A line `<!-- $ COMMAND -->` before a fenced block makes the block hold the command's output; a block of
language `text` holds standard error too, one of language `console` also the command. Commands run in the
repository's root, with this Python's own `wqc`.

usage: refresh_docs.py [--check] [FILE ...]    --check writes nothing and exits 1 if anything is out of date
"""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(
    r"^<!-- \$ (?P<command>[^\n]+) -->\n(?P<open>```(?P<language>\w*)[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S
)


class CommandFailed(Exception):
    """A command of the documentation that can't be run; its text says which and why."""


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def refreshed(text: str) -> str:
    """The document with what its commands print now. Raises `CommandFailed`."""

    def block(match: re.Match[str]) -> str:
        command = match["command"]
        screen = match["language"] in ("console", "text")
        shown = f"$ {command}\n" if match["language"] == "console" else ""
        output = shown + _output(command, errors=screen)
        return f"<!-- $ {command} -->\n{match['open']}\n{output}```"

    return _BLOCK.sub(block, text)


@cache
def _output(command: str, *, errors: bool) -> str:
    """What it prints, with `errors` on both streams. Exit code 1 is a difference or finding to show."""
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if errors else subprocess.PIPE,
        text=True,
    )
    if ran.returncode > 1:
        raise CommandFailed(f"{command}: exit code {ran.returncode}: {ran.stdout}{ran.stderr or ''}")
    text = "".join(f"{line.rstrip()}\n" for line in ran.stdout.splitlines())
    if "```" in text:
        raise CommandFailed(f"{command} prints ```, which would end its block")
    return text


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("WQC_", "PYTHON"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return kept | {"PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "100"}


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    chosen = [Path(name).resolve() for name in arguments if name != "--check"] or documents()
    stale = False
    for path in chosen:
        before = path.read_text(encoding="utf-8")
        try:
            after = refreshed(before)
        except CommandFailed as error:
            print(f"{path.relative_to(ROOT)}: {error}", file=sys.stderr)
            return 2
        if after != before:
            stale = True
            print(f"{path.relative_to(ROOT)}: {'out of date' if check else 'refreshed'}")
            if not check:
                path.write_text(after, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
