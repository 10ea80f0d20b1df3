"""From a text to its parsed tree, whatever the text."""

from dataclasses import dataclass
from typing import Any

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes.syntax import unexpected
from wqc.diagnostics.source import Source, Span
from wqc.language.automaton import Automaton
from wqc.language.builder import Builder
from wqc.language.foreign import foreign
from wqc.language.layout import laid_out
from wqc.language.lexer import Token, words
from wqc.language.recovery import Recovery
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
    """A value alone; `None` if there is a finding."""

    value: Value | None
    findings: tuple[Finding, ...]


def parse(source: Source) -> Parsed:
    """The tree of a `.wq` file."""
    if another := foreign(source):
        return Parsed(Document(source, (), ()), (another,))
    statements, comments, findings = _read(source, "document", 0, len(source.text))
    return Parsed(Document(source, statements, _comments(source, comments)), findings)


def parse_params(source: Source) -> ParsedParams:
    """The entries of a `.wqp` file."""
    entries, _, findings = _read(source, "params", 0, len(source.text))
    return ParsedParams(entries, findings)


def parse_value(span: Span) -> ParsedValue:
    """The one value that stands in a span."""
    value, _, findings = _read(span.source, "single", span.start, span.end)
    return ParsedValue(None if findings else value, findings[:1])


def _read(source: Source, rule: str, start: int, end: int) -> tuple[Any, list[Token], tuple[Finding, ...]]:
    found = words(source, start, end)
    tokens, unmatched = laid_out(source, found.tokens, end)
    builder = Builder(source)
    recovery = Recovery(source, builder, found.findings + unmatched)
    if rule == "single" and len(tokens) == 1:
        tokens.insert(0, ("_END", end, end))
    automaton = Automaton(tokens, rule, builder)
    built = automaton.run(recovery)
    kind, begin, finish = tokens[automaton.at]
    if kind != "$END":
        unmatched.append(unexpected(Span(source, begin, finish), "another", "one value", ""))
    findings = found.findings + unmatched + builder.findings + builder.plain + recovery.findings
    findings.sort(key=lambda finding: (finding.span.start, finding.span.end, finding.code))
    return built, found.comments, tuple(findings)


def _comments(source: Source, comments: list[Token]) -> tuple[Comment, ...]:
    text = source.text
    made = []
    for _, start, end in comments:
        line_start = text.rfind("\n", 0, start) + 1
        own_line = not text[line_start:start].strip()
        made.append(Comment(text[start:end], Span(source, start, end), own_line))
    return tuple(made)
