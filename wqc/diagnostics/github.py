"""Findings as GitHub Actions' workflow commands, which become annotations of a pull request.

The format: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from collections.abc import Sequence

from wqc.diagnostics.finding import Finding, Level
from wqc.diagnostics.source import Span

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def render(findings: Sequence[Finding]) -> str:
    """One command a line."""
    return "".join(f"{_command(finding)}\n" for finding in findings)


def _command(finding: Finding) -> str:
    span = finding.span
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    properties = {"title": f"wqc {finding.code}", "file": span.source.name, "line": line, "endLine": end_line}
    if line == end_line:
        # GitHub takes columns only within one line; its endColumn is inclusive
        properties |= {"col": column, "endColumn": max(column, end_column - 1)}
    listed = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in properties.items())
    further = (f"{label.text}: {_place(label.span)}" for label in finding.also)
    text = "\n".join(filter(None, (finding.message, *further, finding.help)))
    return f"::{_COMMANDS[finding.level]} {listed}::{_escaped(text)}"


def _place(span: Span) -> str:
    line, column = span.source.position(span.start)
    return f"{span.source.name}:{line}:{column}"


def _escaped(text: str, further: str = "") -> str:
    for character in "%\r\n" + further:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
