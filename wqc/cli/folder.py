"""The output folder: one per workflow, written as a whole or not at all; only what wqc owns is touched."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from wqc.cli import staging
from wqc.cli.ending import Trouble
from wqc.emit.lock import LOCK, Lock, NotALock, parse
from wqc.emit.ownership import Plan, plan

WAIT = 5.0
"""Seconds that a build waits for another one in the same folder."""


def earlier_queues(folder: Path) -> Mapping[str, str]:
    """What the last build here left for later ones to respect: the queues, each with its `rework`."""
    try:
        lock = (folder / LOCK).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise Trouble(f"cannot read {folder / LOCK}: {_why(error)}") from None
    return _lock(folder, lock).queues


def write(folder: Path, files: Mapping[str, str], *, force: bool) -> Plan:
    """Make the folder hold these files; returns what that took. Raises `Trouble`: nothing was changed."""
    created = _create(folder)
    try:
        with _open(folder, fcntl.LOCK_EX) as descriptor:
            todo, _ = _plan(folder, descriptor, files)
            _refuse(folder, todo, force)
            if todo.changes:
                staging.replace(descriptor, todo.write, todo.remove)
            else:
                staging.sweep(descriptor)
            created = []
            return todo
    except OSError as error:
        raise Trouble(f"cannot write {folder}: {_why(error)}; nothing was changed") from None
    finally:
        _remove(created)


def compare(folder: Path, files: Mapping[str, str]) -> tuple[Plan, Mapping[str, bytes]]:
    """What `write` would do, and what is there now. Changes nothing."""
    if not os.path.lexists(folder):
        return plan({}, [], files), {}
    try:
        with _open(folder, fcntl.LOCK_SH) as descriptor:
            return _plan(folder, descriptor, files)
    except OSError as error:
        raise Trouble(f"cannot read {folder}: {_why(error)}") from None


def _plan(folder: Path, descriptor: int, files: Mapping[str, str]) -> tuple[Plan, Mapping[str, bytes]]:
    locks = []
    own = _read(folder, descriptor, LOCK)
    if own is not None:
        locks.append(_lock(folder, own))
    interrupted = _read(folder, descriptor, staging.NEW + LOCK)
    if interrupted is not None:
        # incomplete if the build was killed before it replaced anything
        with suppress(NotALock, UnicodeDecodeError):
            locks.append(parse(interrupted.decode()))
    names = dict.fromkeys([*files, *(name for lock in locks for name in lock.files)])
    present = {name: old for name in names if (old := _read(folder, descriptor, name)) is not None}
    return plan(present, locks, files), present


def _lock(folder: Path, text: bytes) -> Lock:
    try:
        return parse(text.decode())
    except (NotALock, UnicodeDecodeError) as error:
        why = error if isinstance(error, NotALock) else "it is not UTF-8"
        raise Trouble(f"cannot use {folder / LOCK}: {why}") from None


def _refuse(folder: Path, todo: Plan, force: bool) -> None:
    if todo.foreign:
        raise Trouble(
            f"in the way, and not written by wqc: {_listed(folder, todo.foreign)}; "
            "move this away, or build into another folder"
        )
    if todo.edited and not force:
        raise Trouble(
            f"changed by hand since wqc wrote it: {_listed(folder, todo.edited)}; "
            "--check shows the difference, --force gives it up"
        )


def _listed(folder: Path, names: Iterable[str]) -> str:
    return ", ".join(str(folder / name) for name in names)


def _read(folder: Path, descriptor: int, name: str) -> bytes | None:
    """The file's content; `None` if there is none. Never follows a link, never blocks on a pipe."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Trouble(
                f"{folder / name} is a symbolic link: wqc writes plain files only; remove it"
            ) from None
        raise Trouble(f"cannot read {folder / name}: {_why(error)}") from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Trouble(f"{folder / name} is no plain file, but a build writes one of that name; remove it")
    with open(file, "rb") as opened:
        return opened.read()


@contextmanager
def _open(folder: Path, mode: int) -> Iterator[int]:
    """The folder's descriptor, held against other builds."""
    if folder.is_symlink():
        raise Trouble(
            f"{folder} is a symbolic link: wqc writes only inside the folder given with -o; remove it"
        )
    if not folder.is_dir():
        raise Trouble(f"{folder} is a file, but a build makes a folder of that name; move it away")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _hold(folder, descriptor, mode)
        yield descriptor
    finally:
        os.close(descriptor)


def _hold(folder: Path, descriptor: int, mode: int) -> None:
    end = time.monotonic() + WAIT
    while True:
        try:
            return fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise Trouble(f"another wqc is busy in {folder}; try again when it has ended") from None
            time.sleep(0.02)


def _create(folder: Path) -> list[Path]:
    """Make the folder and those above it; returns the new ones, the innermost first."""
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    created: list[Path] = []
    try:
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            created.insert(0, path)
    except OSError as error:
        _remove(created)
        raise Trouble(f"cannot make the folder {folder}: {_why(error)}") from None
    return created


def _remove(created: Iterable[Path]) -> None:
    for path in created:
        try:
            path.rmdir()
        except OSError:
            return  # another build has begun to use it


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
