"""The files of a directory. Only complete ones: unchanged for a while, written in place or renamed in.

An item's name is its path below the directory, its version the size and the time of the last change.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from wqc.runtime.sources.glob import Glob
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError
from wqc.runtime.text import encode
from wqc.runtime.threads import in_thread

FILE_SYSTEM_S_OWN = "lost+found"
"""In the top folder of ext file systems, for root alone."""


class FilesSource:
    """`quiet`: seconds without a change after which a file counts as complete."""

    def __init__(self, folder: Path, match: str = "*", quiet: float = 10.0) -> None:
        self._folder = folder
        self._glob = Glob.of(match)
        self._quiet = quiet
        self._device: int | None = None
        """The file system that the folder was on when it last had files."""
        self._ahead: dict[str, tuple[str, float]] = {}
        """Files that another machine wrote, whose clock is ahead of ours: the version, and since when it has
        been seen, on the monotonic clock.
        """

    async def list(self) -> Listing:
        return await in_thread(self._list)

    async def get(self, name: str) -> str:
        return await in_thread(lambda: self._get(name))

    async def close(self) -> None:
        pass

    def _list(self) -> Listing:
        found: list[tuple[str, str]] = []
        odd: list[str] = []
        """Why, of each that can be no item."""
        settling = False
        now = time.time()
        ahead: dict[str, tuple[str, float]] = {}
        try:
            device = self._folder.stat().st_dev
            for name, entry in self._walk():
                if not _is_text(name):
                    odd.append(f"the name of a file is not UTF-8: {os.fsencode(name)!r}")
                    continue
                facts = _facts(entry)
                if facts is None:
                    if entry.is_symlink() and _is_loop(entry):
                        odd.append(f"{name} is a link to itself")
                    continue
                version = _version(facts)
                age = now - facts.st_mtime
                if age < 0:
                    age, ahead[name] = self._seen(name, version)
                if age < self._quiet:
                    settling = True
                else:
                    found.append((name, version))
        except OSError as error:
            raise SourceError(f"{self._folder} can't be listed: {error.strerror}") from None
        self._ahead = ahead
        if not found and not settling and self._device not in (None, device):
            raise SourceError(
                f"{self._folder} is empty and on another file system than before: is its share mounted?"
            )
        if found:
            self._device = device
        notice = min(odd, default="")
        if more := len(odd) - 1 if odd else 0:
            notice += f"; {more} more {'file is' if more == 1 else 'files are'} left out"
        return Listing(dict(sorted(found)), settling, notice=notice, left_out=len(odd))

    def _seen(self, name: str, version: str) -> tuple[float, tuple[str, float]]:
        """For how long the file has been as it is, whatever its time says; and what to remember of it."""
        now = time.monotonic()
        before, since = self._ahead.get(name, ("", now))
        if before != version:
            since = now
        return now - since, (version, since)

    def _walk(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """The files that the pattern takes."""
        waiting = [("", self._folder, self._glob.start())]
        while waiting:
            prefix, folder, places = waiting.pop()
            try:
                entries = os.scandir(folder)
            except FileNotFoundError:
                if not prefix:
                    raise
                continue  # removed since its parent was read
            except PermissionError:
                if prefix == f"{FILE_SYSTEM_S_OWN}/":
                    continue
                raise
            with entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if further := self._glob.enter(places, entry.name):
                            waiting.append((f"{prefix}{entry.name}/", folder / entry.name, further))
                    elif self._glob.takes(places, entry.name):
                        yield prefix + entry.name, entry

    def _get(self, name: str) -> str:
        parts = name.split("/")
        steps = any(part in ("", ".", "..") for part in parts)
        if steps or "\0" in name or not _is_text(name) or not self._glob.matches(name):
            raise NoSuchItem(f"there is no file {name}")
        path = self._folder.joinpath(*parts)
        try:
            facts = path.stat()
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
                raise NoSuchItem(f"there is no file {name}") from None
            raise SourceError(f"{path} can't be read: {error.strerror}") from None
        if not stat.S_ISREG(facts.st_mode):
            raise NoSuchItem(f"{name} is no file")
        modified = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(facts.st_mtime))
        return encode({"path": str(path), "name": name, "size": facts.st_size, "modified": modified})


def _facts(entry: os.DirEntry[str]) -> os.stat_result | None:
    """None for what isn't a file, or not any more."""
    try:
        facts = entry.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    return facts if stat.S_ISREG(facts.st_mode) else None


def _is_loop(link: os.DirEntry[str]) -> bool:
    try:
        link.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _version(facts: os.stat_result) -> str:
    return f"{facts.st_size}-{facts.st_mtime_ns}"


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
