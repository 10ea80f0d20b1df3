"""Puts what commands print into the documentation, so that it shows what really comes out.

A line `<!-- $ COMMAND -->` before a fenced block makes the block hold the command's output; a block of
language `text` holds standard error too, one of language `console` also the command. Commands run in the
repository's root, with this Python's own `wqc`.

A line `<!-- session -->` before a block makes it hold what its commands print, one after the other; see
sessions.py. `<!-- session redis kafka -->` names servers that it needs. Where one of them isn't on this
machine the block stays as it is, with a line that says so. `<!-- file NAME -->` before a block makes its text
a file for the page's sessions.

usage: refresh_docs.py [--check] [FILE ...]    --check writes nothing and exits 1 if anything is out of date
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import sessions

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(
    r"^<!-- \$ (?P<command>[^\n]+) -->\n(?P<open>```(?P<language>\w*)[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S
)
_SESSION = re.compile(
    r"^<!-- session(?P<servers>[a-z0-9 ]*) -->\n```console\n(?P<body>.*?)^```$", re.M | re.S
)

_FILE = re.compile(r"^<!-- file (?P<name>[\w.]+) -->\n```\w+\n(?P<body>.*?)^```$", re.M | re.S)


class CommandFailed(Exception):
    """A command of the documentation that can't be run; its text says which and why."""


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Refreshed:
    text: str
    missing: list[str]
    """What this machine lacks for sessions, which are as they were."""


def refreshed(text: str) -> Refreshed:
    """The document with what its commands print now. Raises `CommandFailed`."""
    missing: list[str] = []
    files = {match["name"]: match["body"] for match in _FILE.finditer(text)}

    def block(match: re.Match[str]) -> str:
        command = match["command"]
        screen = match["language"] in ("console", "text")
        shown = f"$ {command}\n" if match["language"] == "console" else ""
        output = shown + _output(command, errors=screen)
        return f"<!-- $ {command} -->\n{match['open']}\n{output}```"

    def session(match: re.Match[str]) -> str:
        servers = match["servers"].split()
        try:
            printed = sessions.run(sessions.commands_of(match["body"]), servers, files)
        except pytest.skip.Exception as lack:
            missing.append(f"the session with {', '.join(servers)} wasn't run: {lack}")
            return match[0]
        except sessions.SessionFailed as error:
            raise CommandFailed(f"a session: {error}") from None
        return f"<!-- session{match['servers']} -->\n```console\n{_fenceable(printed)}```"

    text = _SESSION.sub(session, _BLOCK.sub(block, text))
    return Refreshed(text, missing)


@cache
def _output(command: str, *, errors: bool) -> str:
    """What it prints, with `errors` on both streams. Exit code 1 is a difference or finding to show."""
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=ROOT,
        env=sessions.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if errors else subprocess.PIPE,
        text=True,
    )
    if ran.returncode > 1:
        raise CommandFailed(f"{command}: exit code {ran.returncode}: {ran.stdout}{ran.stderr or ''}")
    return _fenceable("".join(f"{line.rstrip()}\n" for line in ran.stdout.splitlines()))


def _fenceable(printed: str) -> str:
    if "```" in printed:
        raise CommandFailed(f"what would end its block is printed, ```:\n{printed}")
    return printed


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    chosen = [Path(name).resolve() for name in arguments if name != "--check"] or documents()
    stale = False
    for path in chosen:
        before = path.read_text(encoding="utf-8")
        try:
            fresh = refreshed(before)
        except CommandFailed as error:
            print(f"{path.relative_to(ROOT)}: {error}", file=sys.stderr)
            return 2
        for lack in fresh.missing:
            print(f"{path.relative_to(ROOT)}: {lack}", file=sys.stderr)
        if fresh.text != before:
            stale = True
            print(f"{path.relative_to(ROOT)}: {'out of date' if check else 'refreshed'}")
            if not check:
                path.write_text(fresh.text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
