"""Several files of one folder replaced together: all of them, or none."""

import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

NEW = ".wqc-new-"
OLD = ".wqc-old-"


def replace(folder: int, write: Mapping[str, bytes], remove: Iterable[str]) -> None:
    """Write and remove files of the folder with this descriptor; the last file of `write` is replaced last.

    Everything is on the disk under other names before the first name changes. Whatever is raised (OSError,
    KeyboardInterrupt), the folder is as it was.
    """
    try:
        for name, content in write.items():
            _write(folder, NEW + name, content)
        _flush_all(folder, [NEW + name for name in write])
        os.fsync(folder)
        with _signals_held():
            _rename(folder, list(write), list(remove))
    finally:
        sweep(folder)


def sweep(folder: int) -> None:
    """Remove what an interrupted build left behind."""
    for name in os.listdir(folder):
        if name.startswith((NEW, OLD)):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)


def _rename(folder: int, write: list[str], remove: list[str]) -> None:
    done: list[tuple[str, str]] = []

    def rename(old: str, new: str) -> None:
        os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)
        done.append((old, new))

    try:
        for name in remove:
            rename(name, OLD + name)
        for name in write:
            with suppress(FileNotFoundError):
                rename(name, OLD + name)
            rename(NEW + name, name)
        os.fsync(folder)
    except BaseException:
        for old, new in reversed(done):
            os.rename(new, old, src_dir_fd=folder, dst_dir_fd=folder)
        raise


def _write(folder: int, name: str, content: bytes) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666, dir_fd=folder)
    with open(descriptor, "wb") as file:
        file.write(content)


def _flush_all(folder: int, names: list[str]) -> None:
    from concurrent.futures import ThreadPoolExecutor  # most builds write nothing

    # one journal commit serves all that wait for it: for 2,000 files 0.3 s instead of 3 s
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda name: _flush(folder, name), names):
            pass


def _flush(folder: int, name: str) -> None:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Ctrl-C and its like wait until this is over."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
