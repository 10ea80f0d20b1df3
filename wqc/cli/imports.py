"""Where imports are: beside the file that imports them, or in the library that comes with wqc."""

import os
import re
from pathlib import Path

import wqc
from wqc.cli import files
from wqc.diagnostics.source import Source
from wqc.language.imports import Unreadable

LIBRARY = Path(wqc.__file__).parent / "std"
STD = "std:"

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Imports:
    """Reads each file once: the same import is the same source, however many files of a run ask for it."""

    def __init__(self) -> None:
        self._read: dict[str, Source] = {}

    def __call__(self, importer: Source, path: str) -> Source:
        """Raises `Unreadable`."""
        name = path if path.startswith(STD) else _beside(importer, path)
        if name not in self._read:
            try:
                self._read[name] = Source(name, files.text(_file(name)))
            except files.Unusable as why:
                raise Unreadable(str(why)) from None
        return self._read[name]


def _beside(importer: Source, path: str) -> str:
    if importer.name.startswith(STD):
        raise Unreadable("a file of the library imports only from the library")
    folder = "" if importer.name == files.STDIN else os.path.dirname(importer.name)
    return os.path.normpath(os.path.join(folder, path))


def _file(name: str) -> str:
    if not name.startswith(STD):
        return name
    wanted = name.removeprefix(STD)
    file = LIBRARY / f"{wanted}.wq"
    if not _NAME.fullmatch(wanted) or not file.is_file():
        known = ", ".join(f'"{STD}{path.stem}"' for path in sorted(LIBRARY.glob("*.wq")))
        raise Unreadable(f"the library has {known}")
    return str(file)
