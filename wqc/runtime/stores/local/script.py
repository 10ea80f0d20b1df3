"""The shell script that runs a Job's containers here, one after the other, and records how they ended.

The script's own standard input is a file that is locked for as long as the script runs: that is how a manager
that was started anew tells a worker that still runs from one that died.
"""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wqc.contract.pod import PROGRAM
from wqc.runtime.stores.local.expansion import expand
from wqc.runtime.stores.local.jobfolder import JobFolder

STDIN = "WORK_STDIN"


class NotRunnable(ValueError):
    """A container needs something that there is only in a cluster."""


def script(pod: dict[str, Any], folder: JobFolder, commands: Mapping[str, str]) -> str:
    """`commands`: by container, the program to run here instead of its own. Raises NotRunnable."""
    lines = [
        f"echo $$ >{_quoted(folder.pid)}.new && mv {_quoted(folder.pid)}.new {_quoted(folder.pid)}",
        "status=0",
    ]
    for container in [*pod.get("initContainers", ()), *pod["containers"]]:
        environment = _environment(container, folder)
        exports = "".join(f"export {name}={shlex.quote(value)}; " for name, value in environment.items())
        words = shlex.join(_words(container, environment, folder, commands))
        given = '"$WORK_STDIN"' if container["name"] in commands and STDIN in environment else "/dev/null"
        run = f"( cd {_quoted(folder.work)}; {exports}exec {words} <{given} )"
        lines.append(f'[ "$status" != 0 ] || {run} || status=$?')
    lines.append(f'echo "$status" >{_quoted(folder.exit)}.new')
    lines.append(f"mv {_quoted(folder.exit)}.new {_quoted(folder.exit)}")
    return "\n".join(lines) + "\n"


def _words(
    container: dict[str, Any], environment: Mapping[str, str], folder: JobFolder, commands: Mapping[str, str]
) -> list[str]:
    name = container["name"]
    if name in commands:
        return [commands[name]]
    words = [*container.get("command", ()), *container.get("args", ())]
    if words[:2] == [PROGRAM, "seed"]:
        return ["sh", "-ec", 'for to; do cp "$0" "$to"; done', *map(folder.here, words[2:])]
    if not container.get("command"):
        raise NotRunnable(f"{name} runs the entrypoint of the image {container.get('image')}")
    return [expand(word, environment) for word in words]


def _environment(container: dict[str, Any], folder: JobFolder) -> dict[str, str]:
    environment: dict[str, str] = {}
    for variable in container.get("env", ()):
        name = variable["name"]
        if "valueFrom" not in variable:
            environment[name] = folder.here(expand(variable.get("value", ""), environment))
        elif name not in os.environ:
            raise NotRunnable(f"it takes {name} from the cluster, and the environment here has no {name}")
    return environment


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
