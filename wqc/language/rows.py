"""Lines of formatted text, and what stands in columns among them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

WIDTH = 120
INDENT = 2
COMMENT_COLUMN = 32
"""Where comments beside short lines begin."""


@dataclass(slots=True)
class Row:
    """Something that begins on a line of its own.

    `lines` makes its lines, the first without what stands before it, when it is told the column where that
    one begins; `key` is what stands before an `=`. `blank` is whether an empty line stands above.
    """

    lines: Callable[[int], list[str]]
    key: str = ""
    comment: str = ""
    blank: bool = False


def set_out(rows: Sequence[Row], indent: int) -> list[str]:
    """The lines of all rows: in each paragraph the `=` below each other, and the comments."""
    lines: list[str] = []
    for paragraph in _paragraphs(rows):
        if lines:
            lines.append("")
        width = max(len(row.key) for row in paragraph)
        made = [_made(row, indent, width) for row in paragraph]
        ends = [len(made_lines[-1]) for row, made_lines in zip(paragraph, made, strict=True) if row.comment]
        column = max([COMMENT_COLUMN, *(end + 2 for end in ends)])
        for row, made_lines in zip(paragraph, made, strict=True):
            if row.comment:
                made_lines[-1] = made_lines[-1].ljust(column) + row.comment
            lines += made_lines
    return lines


def _made(row: Row, indent: int, width: int) -> list[str]:
    start = " " * indent + (f"{row.key:{width}} = " if row.key else "")
    first, *rest = row.lines(len(start))
    return [start + first, *rest]


def _paragraphs(rows: Sequence[Row]) -> Iterator[list[Row]]:
    paragraph: list[Row] = []
    for row in rows:
        if row.blank and paragraph:
            yield paragraph
            paragraph = []
        paragraph.append(row)
    if paragraph:
        yield paragraph
