"""How every command ends."""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wqc.diagnostics.finding import Finding


class Status(IntEnum):
    """The exit codes of every command; where several files are given, the largest of them."""

    CLEAN = 0
    FINDINGS = 1
    """Findings of error level, or differences."""
    TROUBLE = 2
    """An unreadable file, bad usage, a folder that can't be written."""
    HUNG_UP = 129
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


class Trouble(Exception):
    """What kept a command from its work, in one line."""


def status_of(findings: "Iterable[Finding]") -> Status:
    """Only errors count."""
    wrong = any(finding.level.value == "error" for finding in findings)
    return Status.FINDINGS if wrong else Status.CLEAN
