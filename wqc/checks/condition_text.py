"""The names in a condition's text, and places in it as places in its file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wqc.diagnostics.source import Span
from wqc.language.strings import blanked
from wqc.language.values import Condition

_PATH = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*")
_SEGMENT = re.compile(r"[A-Za-z_]\w*")
_HAS = re.compile(r"(?<![\w.])has\s*\(\s*")
_PATTERN = re.compile(r"\bmatches\s*\((?:[^()]*,)?\s*([rR]?\"+)\s*\)")
_TOKEN = re.compile(r"\w+|[=!<>]=|&&|\|\||\S")


@dataclass(frozen=True, slots=True)
class Path:
    """`item.data.country` as written; `ends` are the offsets where each of its names ends."""

    names: tuple[str, ...]
    start: int
    ends: tuple[int, ...]
    called: bool
    """Whether the last name is a function's."""

    @property
    def value(self) -> tuple[str, ...]:
        """The names without the function's."""
        return self.names[:-1] if self.called else self.names


class ConditionText:
    """A condition as it stands in its file, in which strings and comments can't be taken for names."""

    def __init__(self, condition: Condition) -> None:
        self._span = condition.span
        self._text = blanked(condition.span.text)
        self.paths = tuple(self._paths())

    @property
    def asked(self) -> tuple[Path, ...]:
        """What stands in a `has(…)`."""
        opened = [match.end() for match in _HAS.finditer(self._text)]
        return tuple(path for path in self.paths if path.start in opened)

    def patterns(self) -> tuple[Span, ...]:
        """The strings written out as the last argument of `matches`."""
        return tuple(self.span(*match.span(1)) for match in _PATTERN.finditer(self._text))

    def offset(self, line: int, column: int) -> int:
        """From CEL's line and column, both from 1."""
        before = self._text.split("\n")[: line - 1]
        return sum(len(each) + 1 for each in before) + column - 1

    def span(self, start: int, end: int) -> Span:
        """The place in the file of a part of the text."""
        return Span(self._span.source, self._span.start + start, self._span.start + end)

    def token(self, offset: int) -> tuple[str, Span]:
        """What stands at an offset; empty at the end."""
        match = _TOKEN.match(self._text, offset)
        if match is None:
            end = len(self._text.rstrip())
            return "", self.span(end, end)
        span = self.span(match.start(), match.end())
        return span.text, span

    def path_of(self, reference: str, offset: int) -> Path | None:
        """The path that the compiler means by `reference` around `offset`, cut to it."""
        names = tuple(reference.split("."))
        for path in self.paths:
            if path.start <= offset <= path.ends[-1] and path.names[: len(names)] == names:
                called = path.called and len(names) == len(path.names)
                return Path(names, path.start, path.ends[: len(names)], called)
        return None

    def after_digit(self, offset: int) -> bool:
        """Whether what stands at an offset is stuck to a number."""
        return offset > 0 and self._text[offset - 1].isdigit()

    def before(self, offset: int) -> Span:
        """The name that ends where a bracket opens."""
        start = end = len(self._text[:offset].rstrip())
        while start and (self._text[start - 1].isalnum() or self._text[start - 1] == "_"):
            start -= 1
        return self.span(start, end)

    def _paths(self) -> Iterator[Path]:
        for match in _PATH.finditer(self._text):
            ends = tuple(match.start() + name.end() for name in _SEGMENT.finditer(match.group()))
            names = tuple(_SEGMENT.findall(match.group()))
            called = self._text[match.end() :].lstrip().startswith("(")
            yield Path(names, match.start(), ends, called)
