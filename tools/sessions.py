"""Runs the shell sessions of the documentation, as a reader would, with the servers that they name.

A session is lines that begin with `$ `, each a command; lines with `> ` below go on with it. It runs in a
folder that has only `examples`, with `wqc`, this Python and `ffmpeg` in PATH. Whatever it starts is ended.

A command says `127.0.0.1:6379`, as readers will. Where the documentation is checked somebody else may
listen there: such a port stands for a free one, or for that of a server of session_servers.py. A command that
ends in `&` is waited for until its ports are listened on.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from imageio_ffmpeg import get_ffmpeg_exe
from session_servers import SERVERS

from support.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
_LIMIT = 300.0
"""Seconds for a session."""
_COMMITS = {f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}
"""They have the same names each time."""
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+\b")
_WAIT = "for i in $(seq 600); do (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && break; sleep 0.05; done"


class SessionFailed(Exception):
    """Its text says which command failed, and what it printed."""


def run(commands: list[str], servers: list[str], files: Mapping[str, str]) -> str:
    """The session's text, with what each command prints. `files`, by name, are there when it begins.

    Raises `SessionFailed`, and what `support.need.unavailable` raises if this machine lacks a server.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        here = _folder(folder)
        ports: dict[int, int] = {}
        given = environment(folder / "bin") | {"HOME": str(folder)} | _COMMITS
        for name, text in files.items():
            (here / name).write_text(text, encoding="utf-8")
        for name in servers:
            if name not in SERVERS:
                raise SessionFailed(f"there is no server {name}, but {', '.join(SERVERS)}")
            started = stack.enter_context(SERVERS[name](folder))
            ports |= started.ports
            given |= started.environment
            for file in started.files:
                shutil.copy(file, here)
        for port in map(int, _PORT.findall("\n".join(commands))):
            ports.setdefault(port, free_port())
        printed = _printed(_script(commands, ports), here, given)
    for usual, real in ports.items():
        printed = printed.replace(f"127.0.0.1:{real}", f"127.0.0.1:{usual}")
    return printed


def commands_of(text: str) -> list[str]:
    """A session's commands, those of several lines with line ends in between."""
    found: list[str] = []
    goes_on = False
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(line.removeprefix("$ "))
            goes_on = True
        elif goes_on and f"{line} ".startswith("> "):
            found[-1] += f"\n{line[2:]}"
        else:
            goes_on = False
    return found


def _script(commands: list[str], ports: Mapping[int, int]) -> str:
    lines = ["set -eo pipefail"]
    for command in commands:
        shown = command.replace("\n", "\n> ")
        mine = [port for port in ports if re.search(rf"\b{port}\b", command)]
        for port in mine:
            command = re.sub(rf"\b{port}\b", str(ports[port]), command)
        lines += [f"printf '%s\\n' {shlex.quote(f'$ {shown}')}", command]
        if command.endswith("&"):
            lines += [_WAIT.format(port=ports[port]) for port in mine]
    return "\n".join(lines)


def _printed(script: str, folder: Path, environment: Mapping[str, str]) -> str:
    shell = subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=(folder.parent / "printed").open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        status = shell.wait(_LIMIT)
    except subprocess.TimeoutExpired:
        status = None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
    text = (folder.parent / "printed").read_text(encoding="utf-8")
    if status != 0:
        raise SessionFailed(f"{'took too long' if status is None else f'exit code {status}'}:\n{text}")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _folder(folder: Path) -> Path:
    (folder / "bin").mkdir()
    (folder / "bin" / "ffmpeg").symlink_to(get_ffmpeg_exe())
    (folder / "here").mkdir()
    (folder / "here" / "examples").symlink_to(ROOT / "examples")
    return folder / "here"


def environment(*programs: Path) -> dict[str, str]:
    """For what the documentation runs; `programs` are folders that come first in PATH."""
    ours = ("WQC_", "PYTHON", "AWS_", "MAKE")  # what a `make` tells those below it, too
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    path = os.pathsep.join(map(str, (*programs, Path(sys.executable).parent, os.environ["PATH"])))
    return kept | {"PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "100"}
