"""Parsed trees as plain nested tuples, which compare without spans and read well when they differ."""

from typing import Any

from wqc.diagnostics.source import Source, Span
from wqc.language.lexer import words
from wqc.language.syntax import Document, Expression


def shape(node: Any) -> Any:
    """`Path((Name("a", …),), …)` → `("Path", (("Name", "a"),))`."""
    if isinstance(node, Expression):
        return ("Expression", *_words(node.span))
    if isinstance(node, Document):
        return ("Document", shape(node.statements), tuple(comment.text.rstrip() for comment in node.comments))
    if isinstance(node, tuple):
        parts = tuple(shape(part) for part in node if not isinstance(part, Span | Source))
        return parts if type(node) is tuple else (type(node).__name__, *parts)
    return node


def _words(span: Span) -> tuple[str, ...]:
    found = words(span.source, span.start, span.end).tokens
    return tuple(span.source.text[start:end] for kind, start, end in found if kind != "NEWLINE")
