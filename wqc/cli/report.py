"""Findings on a stream, in the format that was asked for."""

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import TextIO

from wqc.diagnostics.finding import Finding, Level


def report(findings: Sequence[Finding], arguments: Namespace, stream: TextIO) -> None:
    """Write them, without notes unless `--notes`; in text, a line that counts them follows."""
    wanted = [finding for finding in findings if arguments.notes or finding.level is not Level.NOTE]
    match arguments.format:
        case "text":
            from wqc.diagnostics import text

            stream.write(text.render(wanted, colour=coloured(arguments.color, stream)))
            stream.write(text.closing(findings, notes=arguments.notes))
        case "json":
            from wqc.diagnostics import json

            stream.write(json.render(wanted))
        case "sarif":
            from wqc.diagnostics import sarif

            stream.write(sarif.render(wanted))
        case "github":
            from wqc.diagnostics import github

            stream.write(github.render(wanted))


def coloured(choice: str, stream: TextIO) -> bool:
    """Whether to colour, after https://no-color.org."""
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
