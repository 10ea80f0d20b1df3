"""Findings for programs, as one JSON object."""

import json
from collections.abc import Sequence
from typing import Any

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.source import Span

FORMAT_VERSION = 1
"""Raised when a field goes or changes its meaning; new fields may come without."""


def render(findings: Sequence[Finding]) -> str:
    """An object `{"format_version": 1, "findings": […]}`; lines and columns count from 1, in characters."""
    data = {"format_version": FORMAT_VERSION, "findings": [_finding(finding) for finding in findings]}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "level": finding.level.value,
        "message": finding.message,
        **_place(finding.span),
        "label": finding.label,
        "also": [{**_place(label.span), "label": label.text} for label in finding.also],
        "help": finding.help,
    }


def _place(span: Span) -> dict[str, Any]:
    return {
        "file": span.source.name,
        "start": _position(span, span.start),
        "end": _position(span, span.end),
    }


def _position(span: Span, offset: int) -> dict[str, int]:
    line, column = span.source.position(offset)
    return {"line": line, "column": column, "offset": offset}
