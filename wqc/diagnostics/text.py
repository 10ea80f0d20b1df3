"""Findings for people: the source line with the place marked, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from wqc.diagnostics.finding import Finding, Level
from wqc.diagnostics.screen import harmless, shown, window
from wqc.diagnostics.source import Source, Span

LINE_LIMIT = 140
"""Longer source lines are cut around the place that matters."""

_COLOURS = {Level.ERROR: "1;31", Level.WARNING: "1;33", Level.NOTE: "1;36"}
_QUIET = "1;34"
_STRONG = "1"


def render(findings: Sequence[Finding], *, colour: bool = False) -> str:
    """All of them, with an empty line after each."""
    return "".join(_finding(finding, _Paint(colour)) + "\n" for finding in findings)


def closing(findings: Sequence[Finding], *, notes: bool) -> str:
    """`2 errors, 1 warning (3 notes; --notes shows them)`; empty if there is nothing to say."""
    counts = {level: sum(finding.level is level for finding in findings) for level in Level}
    hidden = "" if notes else _count(counts.pop(Level.NOTE), "note")
    said = ", ".join(filter(None, (_count(count, level.value) for level, count in counts.items())))
    if hidden:
        pronoun = "it" if hidden == "1 note" else "them"
        return f"{said or 'no errors, no warnings'} ({hidden}; --notes shows {pronoun})\n"
    return f"{said}\n" if said else ""


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}" if count else ""


@dataclass(frozen=True, slots=True)
class _Paint:
    colour: bool

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.colour and text else text


@dataclass(frozen=True, slots=True)
class _Mark:
    """A stretch of one line to underline."""

    line: int
    start: int
    end: int
    sign: str
    text: str


def _finding(finding: Finding, paint: _Paint) -> str:
    style = _COLOURS[finding.level]
    out = [
        paint(style, f"{finding.level.value}[{finding.code}]")
        + paint(_STRONG, f": {harmless(finding.message)}")
    ]
    places = [(finding.span, "^", finding.label), *((label.span, "-", label.text) for label in finding.also)]
    numbers = [line for span, _, _ in places for line in _lines(span)]
    gutter = len(str(max(numbers)))
    bar = " " * gutter + " " + paint(_QUIET, "|")
    for source in dict.fromkeys(span.source for span, _, _ in places):
        inside = [place for place in places if place[0].source is source]
        line, column = source.position(inside[0][0].start)
        arrow = "-->"
        if source is not finding.span.source:
            arrow = ":::"
            out.append(bar)
        out.append(" " * gutter + paint(_QUIET, arrow) + f" {harmless(source.name)}:{line}:{column}")
        marks = [mark for span, sign, text in inside for mark in _marks(span, sign, text)]
        out += [bar, *_snippet(source, marks, gutter, style, paint)]
    if finding.help:
        out.append(bar)
        first, *rest = harmless(finding.help).splitlines()
        out.append(paint("1;32", "help") + f": {first}")
        out += [f"      {line}".rstrip() for line in rest]
    return "\n".join(out) + "\n"


def _lines(span: Span) -> tuple[int, int]:
    """First and last line; a span that ends right after a line end does not reach the next line."""
    last = span.source.position(max(span.start, span.end - 1))[0]
    return span.line, last


def _marks(span: Span, sign: str, text: str) -> list[_Mark]:
    first, last = _lines(span)
    start = span.source.position(span.start)[1] - 1
    if first == last:
        return [_Mark(first, start, start + span.end - span.start, sign, text)]
    end = span.source.position(span.end - 1)[1]
    return [
        _Mark(first, start, len(span.source.line(first)), sign, ""),
        _Mark(last, 0, end, sign, text),
    ]


def _snippet(source: Source, marks: list[_Mark], gutter: int, style: str, paint: _Paint) -> list[str]:
    bar = " " * gutter + " " + paint(_QUIET, "|")
    out: list[str] = []
    previous = 0
    for number, on_line in groupby(sorted(marks, key=lambda mark: (mark.line, mark.start)), lambda m: m.line):
        if previous and number == previous + 2 and source.line(previous + 1).strip():
            between, _ = window(source.line(previous + 1), 0, LINE_LIMIT)
            out.append(_source_line(previous + 1, shown(between).text, gutter, paint))
        elif previous and number > previous + 1:
            out.append(paint(_QUIET, "..."))
        group = list(on_line)
        text, shift = window(source.line(number), group[0].start, LINE_LIMIT)
        line = shown(text)
        out.append(_source_line(number, line.text, gutter, paint))
        for mark in group:
            left, right = (line.columns[min(at + shift, len(text))] for at in (mark.start, mark.end))
            underline = mark.sign * max(1, right - left)
            label = f" {harmless(mark.text)}" if mark.text else ""
            out.append(
                f"{bar} {' ' * left}" + paint(style if mark.sign == "^" else _QUIET, underline + label)
            )
        previous = number
    return out


def _source_line(number: int, text: str, gutter: int, paint: _Paint) -> str:
    return (paint(_QUIET, f"{number:>{gutter}} |") + f" {text}").rstrip()
