"""Findings as SARIF 2.1.0 (OASIS), which code-scanning services read."""

import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import wqc.diagnostics.mistakes  # noqa: F401  (fills the registry)
from wqc import __version__
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistake import MISTAKES
from wqc.diagnostics.page import page
from wqc.diagnostics.source import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(findings: Sequence[Finding]) -> str:
    """One run; its rules are those of the findings, in order of their codes."""
    rules = sorted({finding.code for finding in findings})
    run = {
        "tool": {"driver": {"name": "wqc", "version": __version__, "rules": [_rule(code) for code in rules]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules.index(finding.code)) for finding in findings],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(code: str) -> dict[str, Any]:
    mistake = MISTAKES[code]
    return {
        "id": code,
        "shortDescription": {"text": mistake.title},
        "fullDescription": {"text": mistake.explanation or mistake.title},
        "help": {"text": f"`wqc explain {code}` shows this with examples.", "markdown": page(mistake)},
        "defaultConfiguration": {"level": mistake.level.value},
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.level.value,
        "message": {"text": "\n".join(filter(None, (finding.message, finding.help)))},
        "locations": [_location(finding.span)],
    }
    if finding.also:
        result["relatedLocations"] = [
            {"id": number, **_location(label.span), "message": {"text": label.text}}
            for number, label in enumerate(finding.also, 1)
        ]
    return result


def _location(span: Span) -> dict[str, Any]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(span.source.name)}, "region": region}}


def _uri(name: str) -> str:
    path = quote(os.fsencode(name))
    return f"file://{path}" if os.path.isabs(name) else path
