"""Puts what commands print into the documentation, so that it shows what really comes out.

A line `<!-- $ COMMAND -->` before a fenced block makes the block hold the command's output; a block of
language `text` holds standard error too, one of language `console` also the command. Commands run in the
repository's root, with this Python's own `wqc`.

A line `<!-- session -->` before a block makes it hold what its commands print, the lines that begin with
`$ `, one after the other, in a folder that has only `examples`, with `wqc` and `ffmpeg` in PATH.

usage: refresh_docs.py [--check] [FILE ...]    --check writes nothing and exits 1 if anything is out of date
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from imageio_ffmpeg import get_ffmpeg_exe

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(
    r"^<!-- \$ (?P<command>[^\n]+) -->\n(?P<open>```(?P<language>\w*)[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S
)
_SESSION = re.compile(r"^<!-- session -->\n```console\n(?P<body>.*?)^```$", re.M | re.S)


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

    def session(match: re.Match[str]) -> str:
        commands = [line.removeprefix("$ ") for line in match["body"].splitlines() if line.startswith("$ ")]
        return f"<!-- session -->\n```console\n{_session(commands)}```"

    return _SESSION.sub(session, _BLOCK.sub(block, text))


def _session(commands: list[str]) -> str:
    """The commands, each with its output. Raises `CommandFailed`."""
    script = ["set -eo pipefail", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for command in commands:
        script += [f"printf '%s\\n' {shlex.quote(f'$ {command}')}", command]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bin").mkdir()
        (Path(folder) / "bin" / "ffmpeg").symlink_to(get_ffmpeg_exe())
        (Path(folder) / "here").mkdir()
        (Path(folder) / "here" / "examples").symlink_to(ROOT / "examples")
        environment = _environment()
        environment["PATH"] = f"{folder}/bin{os.pathsep}{environment['PATH']}"
        return _ran("\n".join(script), Path(folder) / "here", environment, errors=True)


@cache
def _output(command: str, *, errors: bool) -> str:
    return _ran(f"set -o pipefail; {command}", ROOT, _environment(), errors=errors)


def _ran(script: str, folder: Path, environment: dict[str, str], *, errors: bool) -> str:
    """What it prints, with `errors` on both streams. Exit code 1 is a difference or finding to show."""
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if errors else subprocess.PIPE,
        text=True,
    )
    if ran.returncode > 1:
        raise CommandFailed(f"{script}: exit code {ran.returncode}: {ran.stdout}{ran.stderr or ''}")
    text = "".join(f"{line.rstrip()}\n" for line in ran.stdout.splitlines())
    if "```" in text:
        raise CommandFailed(f"{script} prints ```, which would end its block")
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
