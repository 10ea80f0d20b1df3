"""The files of a directory. Only complete ones: unchanged for a while, written in place or renamed in.

An item's name is its path below the directory, its version the size and the time of the last change.
"""

import asyncio
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from wqc.runtime.sources.glob import glob_pattern
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError
from wqc.runtime.text import encode


class FilesSource:
    """`quiet`: seconds without a change after which a file counts as complete."""

    def __init__(self, folder: Path, match: str = "*", quiet: float = 10.0) -> None:
        self._folder = folder
        self._match = glob_pattern(match)
        self._quiet = quiet

    async def list(self) -> Listing:
        return await asyncio.to_thread(self._list)

    async def get(self, name: str) -> str:
        return await asyncio.to_thread(self._get, name)

    async def close(self) -> None:
        pass

    def _list(self) -> Listing:
        versions: dict[str, str] = {}
        settling = False
        now = time.time()
        try:
            for name, path in self._walk("", self._folder):
                if not self._match.fullmatch(name):
                    continue
                facts = _stat(path)
                if facts is None:
                    continue
                # a time in the future comes from another machine's clock
                if abs(now - facts.st_mtime) < self._quiet:
                    settling = True
                else:
                    versions[name] = _version(facts)
        except OSError as error:
            raise SourceError(f"{self._folder} can't be listed: {error.strerror}") from None
        return Listing(dict(sorted(versions.items())), settling)

    def _walk(self, prefix: str, folder: Path) -> Iterator[tuple[str, Path]]:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = prefix + entry.name
                if not _is_text(name):
                    raise SourceError(f"the name of a file in {folder} is not UTF-8: {os.fsencode(name)!r}")
                if entry.is_dir(follow_symlinks=False):
                    yield from self._walk(f"{name}/", folder / entry.name)
                else:
                    yield name, folder / entry.name

    def _get(self, name: str) -> str:
        path = self._folder / name
        if os.path.isabs(name) or ".." in name.split("/"):
            raise NoSuchItem(f"there is no file {name}")
        try:
            facts = _stat(path)
        except OSError as error:
            raise SourceError(f"{path} can't be read: {error.strerror}") from None
        if facts is None:
            raise NoSuchItem(f"there is no file {name}")
        modified = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(facts.st_mtime))
        return encode({"path": str(path), "name": name, "size": facts.st_size, "modified": modified})


def _stat(path: Path) -> os.stat_result | None:
    """None for what isn't a file, or not any more."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts if stat.S_ISREG(facts.st_mode) else None


def _version(facts: os.stat_result) -> str:
    return f"{facts.st_size}-{facts.st_mtime_ns}"


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
