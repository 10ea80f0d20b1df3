"""From text to words."""

import re

from wqc.language.tables import WORDS

Token = tuple[str, int, int]
"""What it is, and the character offsets of its start and end."""

_WORD = re.compile("|".join(WORDS))


def words(text: str, start: int, end: int) -> tuple[list[Token], list[Token]]:
    """The words of `text[start:end]`, newlines among them, and the comments."""
    found: list[Token] = []
    comments: list[Token] = []
    for match in _WORD.finditer(text, start, end):
        kind = match.lastgroup
        assert kind is not None
        if kind == "BLANK":
            continue
        span = match.span()
        (comments if kind == "COMMENT" else found).append((kind, *span))
    return found, comments
