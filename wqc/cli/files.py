"""Reading and replacing text files, with words for what may be wrong with one."""

import os
import sys
from contextlib import suppress

from wqc.cli.ending import Trouble
from wqc.diagnostics.source import Source

LIMIT = 16 << 20
"""Bytes of one file: more is no workflow."""

STDIN = "<stdin>"


class Unusable(Exception):
    """Why a file is not read, in words and without its name."""


def read(path: str) -> Source:
    """The file, or standard input for `-`. Raises `Trouble`."""
    return read_with_bytes(path)[0]


def read_with_bytes(path: str) -> tuple[Source, bytes]:
    """The file, and its bytes as they are. Raises `Trouble`."""
    name = STDIN if path == "-" else path
    try:
        data = _bytes(path)
        return Source(name, _text(data)), data
    except Unusable as why:
        raise Trouble(f"cannot read {name}: {why}") from None


def text(path: str) -> str:
    """The file's text with `\\n` line ends and without a byte order mark. Raises `Unusable`."""
    return _text(_bytes(path))


def replace(path: str, content: str) -> None:
    """Change the file's text at once; links stay, and so do the permissions. Raises `Trouble`."""
    import tempfile  # only fmt writes

    target = os.path.realpath(path)
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".wqc-", dir=os.path.dirname(target))
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, os.stat(target).st_mode & 0o7777)
            os.fsync(descriptor)
        os.rename(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise Trouble(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
        raise


def _bytes(path: str) -> bytes:
    try:
        if path == "-":
            data = sys.stdin.buffer.read(LIMIT + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(LIMIT + 1)
    except FileNotFoundError:
        unmatched = any(character in path for character in "*?[")
        raise Unusable("no file matches" if unmatched else "there is no such file") from None
    except IsADirectoryError:
        raise Unusable("it is a folder") from None
    except (OSError, ValueError) as error:
        raise Unusable((getattr(error, "strerror", None) or str(error)).lower()) from None
    if len(data) > LIMIT:
        raise Unusable(f"it has more than {LIMIT >> 20} MiB")
    return data


def _text(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unusable("it is UTF-16; save it as UTF-8")
    if b"\0" in data:
        raise Unusable(f"{_place(data, data.index(0))} is NUL, so this is no text file")
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # the error's places don't count a byte order mark
        start = error.start + len(data) - len(error.object)
        raise Unusable(f"{_place(data, start)} is not UTF-8 (0x{data[start]:02x})") from None
    return decoded.replace("\r\n", "\n")


def _place(data: bytes, offset: int) -> str:
    """Bytes and lines from 1."""
    line = data.count(b"\n", 0, offset) + 1
    return f"byte {offset + 1} (in line {line})"
