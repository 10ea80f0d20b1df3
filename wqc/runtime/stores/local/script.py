"""The shell script that runs a Job's containers here, one after the other, and records how they ended.

The script's own standard input is a file that is locked for as long as the script runs: that is how a manager
that was started anew tells a worker that still runs from one that died.
"""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wqc.contract.pod import PROGRAM
from wqc.runtime.queue.attempt import ITEM_VOLUME
from wqc.runtime.stores.local.expansion import expand
from wqc.runtime.stores.local.jobfolder import JobFolder
from wqc.runtime.stores.local.paths import Paths
from wqc.runtime.stores.local.standins import StandIns, variable

STDIN = "WORK_STDIN"
_PLAIN = re.compile(r"[\w/.,:@%+=-]*")
"""A path that means itself in a shell, quoted or not."""
_CODE = "\0"
"""Around shell code in a text that is none: NUL is in no text of a Job."""


class NotRunnable(ValueError):
    """A container needs something that there is only in a cluster."""


def script(pod: dict[str, Any], folder: JobFolder, queue: str, stand_ins: StandIns) -> str:
    """Raises NotRunnable."""
    lines = [
        f"echo $$ >{_quoted(folder.pid)}.new && mv {_quoted(folder.pid)}.new {_quoted(folder.pid)}",
        "status=0 ran=0 stopped=",
        # the containers get the signal too, and the time to end by themselves
        "trap stopped=1 TERM",
    ]
    programs = stand_ins.programs.get(queue, {})
    containers = [*pod.get("initContainers", ()), *pod["containers"]]
    for container in containers:
        mounts = _mounts(pod, container, stand_ins.folders)
        environment = _environment(container, Paths(folder.places | mounts), stand_ins.files)
        exports = "".join(f"export {name}={_shell(value)}; " for name, value in environment.items())
        words = " ".join(map(_shell, _words(container, environment, folder, Paths(mounts), programs)))
        given = '"$WORK_STDIN"' if container["name"] in programs and STDIN in environment else "/dev/null"
        run = f"( cd {_quoted(folder.work)}; {exports}exec {words} <{given} )"
        lines.append(f'[ "$status$stopped" != 0 ] || {{ {run} && ran=$((ran + 1)); }} || status=$?')
    lines.append(f'[ -z "$stopped" ] || [ "$ran" = {len(containers)} ] || exit 1')
    lines.append(f'echo "$status" >{_quoted(folder.exit)}.new')
    lines.append(f"mv {_quoted(folder.exit)}.new {_quoted(folder.exit)}")
    return "\n".join(lines) + "\n"


def _words(
    container: dict[str, Any],
    environment: Mapping[str, str],
    folder: JobFolder,
    mounts: Paths,
    programs: Mapping[str, tuple[str, ...]],
) -> list[str]:
    words = [*container.get("command", ()), *container.get("args", ())]
    if words[:2] == [PROGRAM, "seed"]:
        return ["sh", "-ec", 'for to; do cp "$0" "$to"; done', *map(Paths(folder.places).here, words[2:])]
    if container["name"] in programs:
        words = [*programs[container["name"]]]
    elif not container.get("command"):
        raise NotRunnable(f"{container['name']} runs the entrypoint of the image {container.get('image')}")
    elif words[:2] == ["sh", "-ec"]:
        _fit_for_scripts(mounts.named(words[2]))
    return [expand(mounts.here(word), environment) for word in words]


def _fit_for_scripts(paths: list[str]) -> None:
    for path in paths:
        if not _PLAIN.fullmatch(path):
            raise NotRunnable(
                f"the path {path} has characters that mean something else in its script; "
                "name a symbolic link to it that has none"
            )


def _environment(container: dict[str, Any], paths: Paths, files: Mapping[str, Path]) -> dict[str, str]:
    """As `_shell` takes them: what is a secret's is only pointed at, since the script is kept on the disk."""
    environment: dict[str, str] = {}
    for each in container.get("env", ()):
        if "valueFrom" in each:
            environment[each["name"]] = f"{_CODE}{_pointer(each['valueFrom'], files)}{_CODE}"
        else:
            environment[each["name"]] = expand(paths.here(each.get("value", "")), environment)
    return environment


def _pointer(source: dict[str, Any], files: Mapping[str, Path]) -> str:
    """Shell code for the value of a key of a Secret or ConfigMap."""
    ref = source.get("secretKeyRef") or source["configMapKeyRef"]
    name = variable(ref["name"], ref["key"])
    if file := files.get(f"{ref['name']}/{ref['key']}"):
        return f"$(cat {_quoted(file.absolute())})"
    if name in os.environ:
        return f"${name}"
    raise NotRunnable(f"nothing stands for the value {ref['key']} of {ref['name']}; set {name}")


def _shell(text: str) -> str:
    """One word for the shell."""
    parts = text.split(_CODE)
    return (
        "".join(f'"{part}"' if index % 2 else shlex.quote(part) for index, part in enumerate(parts) if part)
        or "''"
    )


def _mounts(pod: dict[str, Any], container: dict[str, Any], folders: Mapping[str, Path]) -> dict[str, str]:
    """By where the container mounts something that has a name, the folder or file that stands for it."""
    others = [volume for volume in pod.get("volumes", ()) if volume["name"] != ITEM_VOLUME]
    holders = {volume["name"]: _holder(volume) for volume in others}
    places: dict[str, str] = {}
    for mount in container.get("volumeMounts", ()):
        if holder := holders.get(mount["name"]):
            if holder not in folders:
                raise NotRunnable(f"nothing stands for {holder}, which is mounted at {mount['mountPath']}")
            places[mount["mountPath"].rstrip("/")] = str(
                folders[holder].absolute() / mount.get("subPath", "")
            )
    return places


def _holder(volume: dict[str, Any]) -> str:
    """The name of the claim, Secret or ConfigMap; "" for what the pod makes itself."""
    return str(
        volume.get("persistentVolumeClaim", {}).get("claimName")
        or volume.get("secret", {}).get("secretName")
        or volume.get("configMap", {}).get("name", "")
    )


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
