"""From a text to its parsed tree, whatever the text."""

from dataclasses import dataclass
from typing import Any

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.source import Source, Span
from wqc.language.automaton import run
from wqc.language.builder import Builder
from wqc.language.layout import laid_out
from wqc.language.lexer import Token, words
from wqc.language.syntax import Comment, Document, Entry, Value


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's tree, with what could be read of it where there are findings."""

    document: Document
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ParsedParams:
    """The lines of a `.wqp` file; a dotted key is one `Name`."""

    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ParsedValue:
    """A value alone; `None` if there are findings."""

    value: Value | None
    findings: tuple[Finding, ...]


def parse(source: Source) -> Parsed:
    """The tree of a `.wq` file."""
    statements, comments, findings = _read(source, "document", 0, len(source.text))
    notes = tuple(_comment(source, start, end) for _, start, end in comments)
    return Parsed(Document(source, statements, notes), findings)


def parse_params(source: Source) -> ParsedParams:
    """The entries of a `.wqp` file."""
    entries, _, findings = _read(source, "params", 0, len(source.text))
    return ParsedParams(entries, findings)


def parse_value(span: Span) -> ParsedValue:
    """The one value that stands in a span."""
    value, _, findings = _read(span.source, "single", span.start, span.end)
    return ParsedValue(None if findings else value, findings)


def _read(source: Source, rule: str, start: int, end: int) -> tuple[Any, list[Token], tuple[Finding, ...]]:
    found, comments = words(source.text, start, end)
    builder = Builder(source)
    built = run(laid_out(found, end), rule, builder)
    return built, comments, tuple(builder.findings)


def _comment(source: Source, start: int, end: int) -> Comment:
    line_start = source.text.rfind("\n", 0, start) + 1
    own_line = not source.text[line_start:start].strip()
    return Comment(source.text[start:end], Span(source, start, end), own_line)
