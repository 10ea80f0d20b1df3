"""`wqc.lock.json`: what a build wrote into a folder, and the names that later builds must respect."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from wqc import __version__

LOCK = "wqc.lock.json"
FORMAT_VERSION = 1

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,200}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class NotALock(Exception):
    """Why a text is no lock that this version reads, in words."""


@dataclass(frozen=True, slots=True)
class Lock:
    """`queues` are all names under which finished items may be remembered: today's, former and retired ones;
    each with its `rework`, which decides what an item is remembered as, or "" where that isn't known.

    `files` are the other files that wqc owns in the folder, with the SHA-256 of their UTF-8 text.
    """

    workflow: str
    queues: Mapping[str, str]
    files: Mapping[str, str]
    written_by: str = __version__


def digest(text: bytes) -> str:
    """The SHA-256 in hexadecimal."""
    return sha256(text).hexdigest()


def sealed(files: Mapping[str, str], workflow: str, queues: Mapping[str, str]) -> dict[str, str]:
    """The files of a folder and their lock. Raises ValueError for a name that is no plain file name."""
    for name in files:
        if not _FILE_NAME.fullmatch(name) or name == LOCK:
            raise ValueError(f"not a name for a file of the output: {name!r}")
    owned = {name: digest(text.encode()) for name, text in files.items()}
    return {**files, LOCK: render(Lock(workflow, queues, owned))}


def render(lock: Lock) -> str:
    """Sorted, one file a line, so that a change's diff is short."""
    data = {
        "format_version": FORMAT_VERSION,
        "written_by": f"wqc {lock.written_by}",
        "workflow": lock.workflow,
        "queues": sorted(lock.queues),
        "rework": {name: lock.queues[name] for name in sorted(lock.queues) if lock.queues[name]},
        "files": {name: f"sha256:{lock.files[name]}" for name in sorted(lock.files)},
    }
    return json.dumps(data, indent=2) + "\n"


def parse(text: str) -> Lock:
    """Raises `NotALock`."""
    if "\n<<<<<<< " in f"\n{text}":
        raise NotALock("it has the marks of a merge conflict: take either side, then build again")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotALock("it is not JSON: restore it from version control") from error
    match data:
        case {"format_version": int(version)} if version > FORMAT_VERSION:
            raise NotALock(
                f"it has format {version}; this wqc {__version__} knows {FORMAT_VERSION}: use a newer one"
            )
        case {"written_by": str(by), "workflow": str(workflow), "queues": list(queues), "files": dict(files)}:
            return Lock(workflow, _queues(queues, data), _files(files), by.removeprefix("wqc "))
        case _:
            raise NotALock("fields are missing: restore it from version control")


def _queues(names: list[Any], data: dict[str, Any]) -> dict[str, str]:
    if not all(isinstance(name, str) for name in names):
        raise NotALock("a queue's name is no string")
    match data.get("rework", {}):
        case dict(rework) if all(isinstance(word, str) for word in rework.values()):
            return {name: rework.get(name, "") for name in names}
    raise NotALock("what the queues have as `rework` is no map of words")


def _files(files: dict[str, Any]) -> dict[str, str]:
    owned = {}
    for name, value in files.items():
        algorithm, _, hexadecimal = str(value).partition(":")
        if not _FILE_NAME.fullmatch(name) or name == LOCK:
            raise NotALock(f"{json.dumps(name)} is not a name for a file of the output")
        if algorithm != "sha256" or not _DIGEST.fullmatch(hexadecimal):
            raise NotALock(f"the hash of {json.dumps(name)} is malformed")
        owned[name] = hexadecimal
    return owned
