"""What stands between a string's or a script's quotes."""

import re
import textwrap

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import characters as mistakes
from wqc.diagnostics.source import Source, Span
from wqc.language.syntax import Name

_SPECIAL = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.)|\$\$\{|\$\{([^}]*)(\}?)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_QUOTED = re.compile(
    r"""(?P<string>"{3}(?s:.*?)"{3}|'{3}(?s:.*?)'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|[ \t]*#[^\n]*"""
)
_PARAM = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")


def decoded(source: Source, start: int, end: int) -> tuple[tuple[str | Name, ...], list[Finding]]:
    """The parts of the string whose quotes are the first and last of `start..end`, and its mistakes."""
    text = source.text[start + 1 : end - 1]
    if "\\" not in text and "${" not in text:
        return (text,) if text else (), []
    parts: list[str | Name] = []
    findings: list[Finding] = []
    literal: list[str] = []
    at = 0
    for match in _SPECIAL.finditer(text):
        literal.append(text[at : match.start()])
        at = match.end()
        code, letter, name, closed = match.groups()
        span = Span(source, start + 1 + match.start(), start + 1 + at)
        if code is not None:
            literal.append(chr(int(code, 16)))
        elif letter is not None:
            literal.append(_ESCAPES.get(letter, match.group()))
            if letter not in _ESCAPES:
                findings.append(mistakes.unknown_escape(span, match.group()))
        elif name is None:
            literal.append("${")
        elif not closed or not _PARAM.fullmatch(name):
            literal.append(match.group())
            findings.append(mistakes.malformed_hole(span, match.group()))
        else:
            if before := "".join(literal):
                parts.append(before)
            literal.clear()
            parts.append(Name(name, Span(source, span.start + 2, span.end - 1)))
    literal.append(text[at:])
    if after := "".join(literal):
        parts.append(after)
    return tuple(parts), findings


def uncommented(condition: str) -> str:
    """A condition's text without its comments; what remains keeps its line and column."""
    return _QUOTED.sub(lambda match: match["string"] or "", condition) if "#" in condition else condition


def blanked(condition: str) -> str:
    """A condition's text with quotes instead of its strings' letters and blanks instead of its comments."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", '"' if match["string"] else " ", match.group())

    return _QUOTED.sub(blank, condition)


def decimal(text: str) -> str:
    """CEL's `0x10`, `1e3` or `.5` as a number of ours; empty if there is none."""
    from decimal import Decimal

    try:
        value = int(text.rstrip("uU"), 16) if text[:2].lower() == "0x" else Decimal(text)
    except (ValueError, ArithmeticError):
        return ""
    written = f"{value:f}" if isinstance(value, Decimal) else str(value)
    return written if len(written) <= 40 else ""


def script_text(raw: str) -> str:
    """A script without the indentation that all its lines share, nor the line breaks beside its quotes."""
    if "\n" not in raw:
        return raw
    first, _, rest = raw.partition("\n")
    if first.strip():
        rest = first + "\n" + rest
    return textwrap.dedent(rest.rstrip(" \t")).rstrip("\n") + "\n"
