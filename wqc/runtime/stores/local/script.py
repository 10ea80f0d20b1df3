"""The shell script that runs a Job's containers here, one after the other, and records how they ended.

The script's own standard input is a file that is locked for as long as the script runs: that is how a manager
that was started anew tells a worker that still runs from one that died.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wqc.runtime.stores.local.expansion import expand

WORKER = "worker"


class NotRunnable(ValueError):
    """A container needs something that there is only in a cluster."""


@dataclass(frozen=True, slots=True)
class JobFolder:
    """Where one Job's files are."""

    path: Path

    @property
    def job(self) -> Path:
        return self.path / "job.json"

    @property
    def item(self) -> Path:
        return self.path / "item" / "item.json"

    @property
    def fields(self) -> Path:
        return self.path / "item" / "fields"

    @property
    def script(self) -> Path:
        return self.path / "run.sh"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def pid(self) -> Path:
        return self.path / "pid"

    @property
    def exit(self) -> Path:
        return self.path / "exit"

    @property
    def result(self) -> Path:
        return self.path / "result"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def timed_out(self) -> Path:
        return self.path / "timed-out"

    @property
    def done(self) -> Path:
        return self.path / "done"

    @property
    def work(self) -> Path:
        return self.path / "work"


def script(pod: dict[str, Any], folder: JobFolder, commands: Mapping[str, str]) -> str:
    """`commands`: by container, the program to run here instead of its own. Raises NotRunnable."""
    lines = [
        "echo $$ >"
        + _quoted(folder.pid)
        + ".new && mv "
        + _quoted(folder.pid)
        + ".new "
        + _quoted(folder.pid),
        "status=0",
    ]
    for container in [*pod.get("initContainers", ()), *pod["containers"]]:
        environment = _environment(container, folder)
        exports = "".join(f"export {name}={shlex.quote(value)}; " for name, value in environment.items())
        words = shlex.join(_words(container, environment, commands))
        run = f"( cd {_quoted(folder.work)}; {exports}exec {words} </dev/null )"
        lines.append(f'[ "$status" != 0 ] || {run} || status=$?')
    lines.append(f'echo "$status" >{_quoted(folder.exit)}.new')
    lines.append(f"mv {_quoted(folder.exit)}.new {_quoted(folder.exit)}")
    return "\n".join(lines) + "\n"


def _words(
    container: dict[str, Any], environment: Mapping[str, str], commands: Mapping[str, str]
) -> list[str]:
    name = container["name"]
    if name in commands:
        return [commands[name]]
    words = [*container.get("command", ()), *container.get("args", ())]
    if not container.get("command"):
        raise NotRunnable(f"{name} runs the entrypoint of the image {container.get('image')}")
    return [expand(word, environment) for word in words]


def _environment(container: dict[str, Any], folder: JobFolder) -> dict[str, str]:
    here = {
        "WORK_ITEM_FILE": str(folder.item),
        "WORK_ITEM_DIR": str(folder.fields),
        "WORK_RESULT_FILE": str(folder.result),
    }
    environment: dict[str, str] = {}
    for variable in container.get("env", ()):
        name = variable["name"]
        if name in here:
            environment[name] = here[name]
        elif "valueFrom" in variable:
            raise NotRunnable(f"{container['name']} takes {name} from the cluster")
        else:
            environment[name] = expand(variable.get("value", ""), environment)
    return environment


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
