"""Silencers: comments that allow a finding at their line, with a reason."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistake import MISTAKES, is_blocking
from wqc.diagnostics.mistakes import silencers as mistakes
from wqc.diagnostics.source import Span
from wqc.language.syntax import Comment, Document

_BEGIN = re.compile(r"#+\s*wqc:\s*")
_ALMOST = re.compile(r"#+\s*wqc\W*allow\b.*\bWQ\d", re.IGNORECASE)
"""Meant as one, and nobody would see that it silences nothing."""
_FORM = re.compile(r"allow\s+(?P<codes>\w+(\s*,\s*\w+)*)\s*(:\s*(?P<reason>.*))?")


@dataclass(frozen=True, slots=True)
class Silencer:
    """One code that a comment allows on line `line` of the file named `file`; `span` covers the code."""

    code: str
    file: str
    line: int
    span: Span


def silence(findings: Sequence[Finding], documents: Iterable[Document]) -> list[Finding]:
    """The findings that no silencer allows, and those about the silencers themselves.

    `documents` begin with the workflow's own. What silences nothing is reported only there, since another
    workflow may need it in a library, and only where everything was looked at: a blocking finding keeps later
    checks from running.
    """
    documents = list(documents)
    found: list[Finding] = []
    silencers = list(_all(documents, found))
    allowed = {(silencer.code, silencer.file, silencer.line) for silencer in silencers}
    kept, used = [], set[tuple[str, str, int]]()
    for finding in findings:
        at = (finding.code, finding.span.source.name, finding.span.line)
        if at in allowed and not is_blocking(finding):
            used.add(at)
        else:
            kept.append(finding)
    if not any(map(is_blocking, kept)):
        found += [
            mistakes.silences_nothing(silencer.span, silencer.code)
            for silencer in silencers
            if silencer.file == documents[0].source.name
            and (silencer.code, silencer.file, silencer.line) not in used
        ]
    return kept + found


def _all(documents: Iterable[Document], found: list[Finding]) -> Iterator[Silencer]:
    """Every silencer that is in order; the others become findings."""
    read = set[str]()
    for document in documents:
        if document.source.name in read:
            continue
        read.add(document.source.name)
        own_lines = {comment.span.line for comment in document.comments if comment.own_line}
        for comment in document.comments:
            begin = _BEGIN.match(comment.text)
            if begin is None:
                if _ALMOST.match(comment.text):
                    found.append(mistakes.malformed_silencer(comment.span, comment.text.strip()))
                continue
            line = comment.span.line
            while line in own_lines:
                line += 1
            yield from _read(comment, begin.end(), line, found)


def _read(comment: Comment, start: int, line: int, found: list[Finding]) -> Iterator[Silencer]:
    form = _FORM.fullmatch(comment.text.rstrip(), start)
    if form is None:
        found.append(mistakes.malformed_silencer(comment.span, comment.text.strip()))
        return
    if not (form["reason"] or "").strip():
        found.append(mistakes.silencer_without_reason(comment.span, form["codes"]))
        return
    for word in re.finditer(r"\w+", form["codes"]):
        offset = comment.span.start + form.start("codes") + word.start()
        span = Span(comment.span.source, offset, offset + len(word[0]))
        known = MISTAKES.get(word[0])
        if known is None:
            found.append(mistakes.silencer_of_unknown_code(span, word[0], sorted(MISTAKES)))
        elif known.blocking:
            found.append(mistakes.silencer_of_blocking(span, word[0], known.title))
        else:
            yield Silencer(word[0], comment.span.source.name, line, span)
