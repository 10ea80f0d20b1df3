"""Values and entries as formatted text, with the comments among them."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TypeVar

from wqc.diagnostics.source import Source
from wqc.language.lexer import words
from wqc.language.rows import INDENT, WIDTH, Row, set_out
from wqc.language.syntax import (
    Block,
    Call,
    Comment,
    Entry,
    Expression,
    Import,
    ListValue,
    MapValue,
    Measure,
    Number,
    Path,
    Range,
    Script,
    Value,
)

Part = TypeVar("Part", bound=Block | Import | Entry | Value)


class Arrangement:
    """What the layout of one file needs to know of it."""

    def __init__(self, source: Source, comments: Sequence[Comment]) -> None:
        self.source = source
        self.comments = comments
        self._starts = [comment.span.start for comment in comments]

    def rows(
        self, parts: Sequence[Part], row: Callable[[Part], Row], start: int, end: int
    ) -> tuple[list[Row], str]:
        """A row for each part and each comment from `start`, after an opening bracket, to `end`.

        The comment beside that bracket comes by itself.
        """
        rows: list[Row] = []
        beside = ""
        commentable: Row | None = None
        line = self._line(start)
        for part in (*parts, None):
            until = end if part is None else part.head.end if isinstance(part, Block) else part.span.start
            for comment in self.comments_between(start, until):
                text = comment.text.rstrip()
                in_head = part is not None and comment.span.start > part.span.start
                if comment.own_line or in_head or (rows and not commentable):
                    rows.append(Row(_always(text), blank=bool(rows) and comment.span.line > line + 1))
                    commentable = None
                elif commentable:
                    commentable.comment = text
                    commentable = None
                else:
                    beside = text
                line = comment.span.line
            if part is not None:
                commentable = row(part)
                commentable.blank = bool(rows) and part.span.line > line + 1
                rows.append(commentable)
                start = part.span.end
                line = self._line(start)
        return rows, beside

    def entry_rows(
        self, entries: Sequence[Entry], start: int, end: int, indent: int
    ) -> tuple[list[Row], str]:
        """The rows of a block's or a map's entries."""
        return self.rows(entries, lambda entry: self._entry_row(entry, indent), start, end)

    def value(self, value: Value, column: int, indent: int) -> list[str]:
        """The lines of a value that begins at `column`; the others are indented by `indent` or more."""
        flat = self.flat(value)
        if flat is not None and (
            column + len(flat) <= WIDTH or not isinstance(value, Call | ListValue | MapValue)
        ):
            return [flat]
        match value:
            case Script(text):
                inner = " " * (indent + INDENT)
                lines = [inner + line if line else "" for line in text.removesuffix("\n").split("\n")]
                return ['"""', *lines, inner + '"""']
            case ListValue(items):
                return self._broken("[", items, value, indent, "]")
            case Call(function, arguments, keywords):
                parts = sorted((*arguments, *keywords), key=lambda part: part.span.start)
                return self._broken(f"{function.text}(", parts, value, indent, ")")
            case MapValue(entries):
                rows, beside = self.entry_rows(entries, value.span.start, value.span.end, indent + INDENT)
                return _enclosed("{", rows, beside, indent, "}")
        return self._raw(value.span.start, value.span.end, indent)

    def flat(self, value: Value) -> str | None:
        """The value on one line, unless it was written on several."""
        text = value.span.text
        if "\n" in text:
            return None
        match value:
            case Number(written) | Measure(written):
                return written
            case Path():
                return value.text
            case Range(low, high):
                return f"{self.flat(low)}..{self.flat(high)}"
            case Call(function, arguments, keywords):
                parts = sorted((*arguments, *keywords), key=lambda part: part.span.start)
                return f"{function.text}({', '.join(map(self._flat_part, parts))})"
            case ListValue(items):
                return f"[{', '.join(map(self._flat_part, items))}]"
            case MapValue(entries):
                return f"{{ {', '.join(map(self._flat_part, entries))} }}" if entries else "{}"
            case Expression():
                return self._spaced(value.span.start, value.span.end)
        return text

    def comments_between(self, start: int, end: int) -> Sequence[Comment]:
        return self.comments[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def _flat_part(self, part: Value | Entry) -> str:
        if isinstance(part, Entry):
            return f"{part.key.span.text} = {self.flat(part.value)}"
        return self.flat(part) or ""

    def _entry_row(self, entry: Entry, indent: int) -> Row:
        return Row(lambda column: self.value(entry.value, column, indent), key=entry.key.span.text)

    def _broken(
        self, opener: str, parts: Sequence[Value | Entry], value: Value, indent: int, closer: str
    ) -> list[str]:
        """One part per line, each with its comma."""

        def row(part: Value | Entry) -> Row:
            inner = indent + INDENT
            whole = part.value if isinstance(part, Entry) else part
            key = part.key.span.text if isinstance(part, Entry) else ""
            return Row(lambda column: _with_comma(self.value(whole, column, inner)), key=key)

        rows, beside = self.rows(parts, row, value.span.start, value.span.end)
        return _enclosed(opener, rows, beside, indent, closer)

    def _spaced(self, start: int, end: int) -> str:
        """Part of an expression with one space where there was any, and around its operators."""
        found = words(self.source, start, end)
        out = ""
        previous, last = "", start
        for kind, begin, finish in found.tokens:
            if begin > last or "OPERATOR" in (kind, previous):
                out += " "
            out += self.source.text[begin:finish]
            previous, last = kind, finish
        beside = [self.source.text[begin:finish].rstrip() for _, begin, finish in found.comments]
        return "  ".join([out.strip(), *beside] if out else beside)

    def _raw(self, start: int, end: int, indent: int) -> list[str]:
        """Several lines of an expression, each by itself."""
        text = self.source.text[start:end]
        if '"""' in text or "'''" in text:
            return text.split("\n")
        lines = []
        for line in text.split("\n"):
            spaced = self._spaced(start, start + len(line))
            start += len(line) + 1
            if spaced:
                lines.append(" " * (indent if spaced[0] in ")]}" else indent + INDENT) + spaced)
        return [lines[0].lstrip(), *lines[1:]]

    def _line(self, place: int) -> int:
        return self.source.position(place)[0]


def _enclosed(opener: str, rows: Sequence[Row], beside: str, indent: int, closer: str) -> list[str]:
    if not rows and not beside:
        return [opener + closer]
    return [
        f"{opener}  {beside}" if beside else opener,
        *set_out(rows, indent + INDENT),
        " " * indent + closer,
    ]


def _with_comma(lines: list[str]) -> list[str]:
    return [*lines[:-1], lines[-1] + ","]


def _always(text: str) -> Callable[[int], list[str]]:
    return lambda column: [text]
