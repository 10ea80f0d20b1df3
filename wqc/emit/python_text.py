"""Values and calls as Python, laid out as `ruff format` lays them out."""

from collections.abc import Mapping
from dataclasses import dataclass

from wqc.emit.encoded import Encoded

WIDTH = 110


@dataclass(frozen=True, slots=True)
class Quoted:
    """A string."""

    value: str

    def __str__(self) -> str:
        """In double quotes unless that takes more escapes."""
        quote = "'" if self.value.count('"') > self.value.count("'") else '"'
        escaped = self.value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
        return (
            f"{quote}{''.join(char if ' ' <= char <= '~' else ascii(char)[1:-1] for char in escaped)}{quote}"
        )

    def parts(self, width: int) -> "list[Quoted]":
        """Strings that together are this one, broken after spaces; `width` long at most where that can be."""
        parts, rest = [], self.value
        while len(str(Quoted(rest))) > width and " " in rest.rstrip(" "):
            ends = [at + 1 for at, char in enumerate(rest[:-1]) if char == " "]
            fitting = [end for end in ends if len(str(Quoted(rest[:end]))) <= width]
            end = fitting[-1] if fitting else ends[0]
            parts.append(Quoted(rest[:end]))
            rest = rest[end:]
        return [*parts, Quoted(rest)]


@dataclass(frozen=True, slots=True)
class Brackets:
    """A bracketed list of entries, each with what stands before it: `key=`, `"key": ` or nothing."""

    opening: str
    entries: "tuple[tuple[str, Expression], ...]"
    closing: str

    def __str__(self) -> str:
        inside = ", ".join(f"{prefix}{entry}" for prefix, entry in self.entries)
        single = "," if self.opening == "(" and len(self.entries) == 1 else ""
        return f"{self.opening}{inside}{single}{self.closing}"


Expression = Brackets | Quoted | str


def literal(value: object) -> Encoded:
    """A literal on one line, in ASCII: no letter looks like another. Raises TypeError for other types."""
    return Encoded(str(_expression(value)))


def call(
    function: str, positional: tuple[object, ...], keywords: Mapping[str, object], width: int
) -> Encoded:
    """A call on one line of `width` characters, or on several as ruff breaks it."""
    entries = [("", _expression(value)) for value in positional]
    entries += [(f"{name}=", _expression(value)) for name, value in keywords.items()]
    return Encoded("\n".join(_lines(Brackets(f"{function}(", tuple(entries), ")"), "", width, WIDTH)))


def _expression(value: object) -> Expression:
    match value:
        case Encoded():
            return str(value)
        case str():
            return Quoted(value)
        case None | bool() | int() | float():
            return repr(value)
        case tuple():
            return Brackets("(", tuple(("", _expression(each)) for each in value), ")")
        case Mapping():
            pairs = ((f"{literal(key)}: ", _expression(each)) for key, each in value.items())
            return Brackets("{", tuple(pairs), "}")
        case _:
            raise TypeError(f"no literal: {type(value).__name__}")


def _lines(expression: Expression, prefix: str, first: int, width: int) -> list[str]:
    """The lines of `prefix` and expression, of which the first may be `first` long and the others `width`."""
    flat = f"{prefix}{expression}"
    if isinstance(expression, str) or len(flat) <= first:
        return [flat]
    inside = width - 4
    if isinstance(expression, Quoted):
        parts = expression.parts(inside)
        return [flat] if len(parts) == 1 else [f"{prefix}(", *(f"    {part}" for part in parts), ")"]
    if not expression.entries:
        return [flat]
    together = str(expression)[len(expression.opening) : -len(expression.closing)]
    if len(together) <= inside:
        body = [together]
    else:
        body = []
        for before, entry in expression.entries:
            lines = _lines(entry, before, inside - 1, inside)
            body += [*lines[:-1], f"{lines[-1]},"]
    return [f"{prefix}{expression.opening}", *(f"    {line}" for line in body), expression.closing]
