"""Spans by the text that they cover."""

from wqc.diagnostics.source import Source, Span


def at(source: Source, text: str, occurrence: int = 0) -> Span:
    """The `occurrence`-th place (from 0) of `text`."""
    start = -1
    for _ in range(occurrence + 1):
        start = source.text.index(text, start + 1)
    return Span(source, start, start + len(text))
