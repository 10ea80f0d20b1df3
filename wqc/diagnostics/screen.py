"""How source text looks on a terminal: tabs, wide and combining characters, and what must not reach one."""

import unicodedata
from dataclasses import dataclass

TAB = 4
ELLIPSIS = "…"


def width(character: str) -> int:
    """Terminal columns of one character, after UAX #11 (ambiguous ones are narrow)."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def harmless(text: str) -> str:
    """The text without the characters that would steer a terminal (escapes, right-to-left overrides)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\u200d" else "\N{REPLACEMENT CHARACTER}" for c in text)


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line as shown. `columns[i]` is the screen column of its character `i`, one more entry for its end."""

    text: str
    columns: tuple[int, ...]


def shown(line: str) -> ShownLine:
    """Tabs become spaces up to the next stop."""
    parts, columns, column = [], [], 0
    for character in line:
        columns.append(column)
        part = " " * (TAB - column % TAB) if character == "\t" else harmless(character)
        parts.append(part)
        column += sum(map(width, part))
    return ShownLine("".join(parts), (*columns, column))


def window(line: str, around: int, limit: int) -> tuple[str, int]:
    """The part of a long line around its character `around`, with `…` where something is left out.

    Returns that part, and what to add to a place in the line to find it there.
    """
    if len(line) <= limit:
        return line, 0
    first = max(0, min(around - limit // 4, len(line) - limit))
    before = ELLIPSIS if first else ""
    after = ELLIPSIS if first + limit < len(line) else ""
    return before + line[first : first + limit] + after, len(before) - first
