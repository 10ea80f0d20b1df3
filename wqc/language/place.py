"""A place in a file where reading stopped, and what is to be known of it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wqc.diagnostics.source import Source, Span
from wqc.language.lexer import Token
from wqc.language.syntax import Name, Path

_NAME_PARTS = frozenset({"NAME", "IN", "NUMBER", "MEASURE"})


@dataclass(frozen=True, slots=True)
class Head:
    """What could be made out of a block's first line; `stop` is the index of the token after it."""

    kind: Name
    name: Name | None
    parameters: tuple[Name, ...]
    base: Path | None
    span: Span
    stop: int


@dataclass(frozen=True, slots=True)
class Place:
    """`at` is the index of the token that fits nothing, `start` that of the first one of its statement or
    entry.

    `expects` says of a symbol whether it would fit; `assigned` is whether a `name =` has been read, `top`
    whether it is a block's first line that can't be, and `braced` whether it stands between braces.
    """

    source: Source
    tokens: Sequence[Token]
    start: int
    at: int
    expects: Callable[[str], bool]
    assigned: bool
    top: bool
    braced: bool

    def kind(self, offset: int = 0) -> str:
        """What the token so many places after the unfit one is; empty outside of the statement or entry."""
        index = self.at + offset
        return self.tokens[index][0] if self.start <= index < len(self.tokens) else ""

    def text(self, offset: int = 0) -> str:
        return self.span(offset).text if self.kind(offset) else ""

    def span(self, offset: int = 0) -> Span:
        _, start, end = self.tokens[self.at + offset]
        return Span(self.source, start, end)

    def inside(self) -> str:
        """The innermost bracket that was opened in this statement or entry and isn't closed."""
        opened: list[str] = []
        for kind, _, _ in self.tokens[self.start : self.at]:
            if kind in ("LPAR", "LSQB", "LBRACE"):
                opened.append(kind)
            elif kind in ("RPAR", "RSQB", "RBRACE"):
                opened.pop()
        return opened[-1] if opened else ""

    def joined_name(self, index: int) -> Name | None:
        """The name that begins with a token, if it has `-` or `.` in it; its text is what was meant."""
        end = index
        while (
            end + 2 < len(self.tokens)
            and self.tokens[end + 1][0] in ("MINUS", "DOT")
            and self.tokens[end + 2][0] in _NAME_PARTS
            and self.tokens[end][2] == self.tokens[end + 1][1]
            and self.tokens[end + 1][2] == self.tokens[end + 2][1]
        ):
            end += 2
        if end == index or self.tokens[index][0] not in _NAME_PARTS:
            return None
        span = Span(self.source, self.tokens[index][1], self.tokens[end][2])
        return Name(name_from(span.text), span)

    def joined_end(self, index: int) -> int:
        """The index of the token after the name that begins with the one at `index`."""
        joined = self.joined_name(index)
        while joined and self.tokens[index][2] < joined.span.end:
            index += 1
        return index + 1

    def has_kinds(self) -> bool:
        """Whether a kind may follow in this statement."""
        # only for files with mistakes, and not light to import
        from wqc.language.schema import BLOCKS

        _, start, end = self.tokens[self.start]
        block = BLOCKS.get(self.source.text[start:end])
        return block is None or bool(block.kinds)

    def is_block(self) -> bool:
        """Whether it is a block between the braces of another: `source s: items {`, `manager {`,
        `param x = 1`.
        """
        # only for files with mistakes, and not light to import
        from wqc.language.schema import BLOCKS

        if not self.braced or self.at != self.start + 1 or (head := self.head()) is None:
            return False
        block = BLOCKS.get(head.kind.text)
        if block is None:
            return head.kind.text in ("param", "import")
        named = self.kind() in ("NAME", "STRING")
        return self.tokens[head.stop][0] == "LBRACE" and named == block.named

    def head(self) -> Head | None:
        """What can be made out of the statement as a block's first line."""
        if self.tokens[self.start][0] != "NAME":
            return None
        stop = self.start
        while self.tokens[stop][0] not in ("LBRACE", "EQUAL", "_END", "$END"):
            stop += 1
        names: list[Name] = []
        parameters: list[Name] = []
        kinds: list[Name] = []
        strings = 0
        into = names
        index = self.start + 1
        while index < stop:
            kind, start, end = self.tokens[index]
            span = Span(self.source, start, end)
            if kind == "STRING":
                strings += 1
                into.append(Name(name_from(span.text[1:-1]), span))
            elif kind in _NAME_PARTS:
                into.append(self.joined_name(index) or Name(span.text, span))
                index = self.joined_end(index) - 1
            elif kind == "COLON":
                into = kinds
            elif kind == "LPAR":
                into = parameters
            index += 1
        if len(names) > 1 and not kinds and self.has_kinds():
            # source "files" "films": another language writes the kind first
            kinds = [names.pop(0)] if strings > 1 else [names.pop(1)]
        base = Path(tuple(kinds), kinds[0].span.to(kinds[-1].span)) if kinds else None
        _, start, end = self.tokens[self.start]
        span = Span(self.source, start, self.tokens[max(stop - 1, self.start)][2])
        kind_name = Name(self.source.text[start:end], Span(self.source, start, end))
        return Head(kind_name, names[0] if names else None, tuple(parameters), base, span, stop)


def name_from(text: str) -> str:
    """The name that was meant: `maxRetries` → `max_retries`, `old-jobs` → `old_jobs`; empty if unclear."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()
    name = re.sub(r"[^a-z0-9]+", "_", apart).strip("_")
    return "" if name[:1].isdigit() else name
