"""The command line: finds the command, runs it, and says in one line what kept it from its work."""

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

from wqc.cli.arguments import command_line
from wqc.cli.ending import Status, Trouble


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of `wqc ARGUMENTS`, those of the process by default."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        # the same bytes in every locale; a file's name that is no UTF-8 comes out as it went in
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    try:
        status = _run(words)
        sys.stdout.flush()
    except Trouble as trouble:
        print(f"wqc: {trouble}", file=sys.stderr)
        return Status.TROUBLE
    except BrokenPipeError:
        _forget_stdout()
        return Status.BROKEN_PIPE
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    except OSError as error:
        _forget_stdout()
        where = f" {error.filename}" if error.filename else " to standard output"
        print(f"wqc: cannot write{where}: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return Status.TROUBLE
    except Exception as error:
        if "--debug" in words:
            raise
        print(_bug(error), file=sys.stderr)
        return Status.TROUBLE
    return status


def _run(words: Sequence[str]) -> Status:
    with _garbage_kept():
        arguments = command_line(words).parse_args(words)
        command = import_module(f"wqc.cli.{arguments.command}")
        status: Status = command.run(arguments)
        return status


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """What a compiler makes is used until it ends: to search it for garbage, again and again, takes an eighth
    to a third of the time, the more the larger the workflow, and finds none. Frozen, it isn't searched as the
    interpreter ends either.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _bug(error: Exception) -> str:
    from traceback import walk_tb

    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    at = ""
    for frame, line in walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__"))
        at = f", line {line} of {module}" if module.startswith("wqc.") else at
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"wqc: this is a bug in wqc, not a mistake of yours: {text}{at}\n"
        "wqc: please report it with your .wq file and what --debug prints"
    )


def _forget_stdout() -> None:
    """Nobody reads it any more: keep the interpreter from complaining about that when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
