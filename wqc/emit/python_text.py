"""Values and calls as Python, laid out as `ruff format` lays them out."""

from collections.abc import Mapping
from dataclasses import dataclass

from wqc.emit.encoded import Encoded

WIDTH = 110


@dataclass(frozen=True, slots=True)
class Brackets:
    """A bracketed list of entries, each with what stands before it: `key=`, `"key": ` or nothing."""

    opening: str
    entries: tuple[tuple[str, "Brackets | str"], ...]
    closing: str

    def __str__(self) -> str:
        inside = ", ".join(f"{prefix}{entry}" for prefix, entry in self.entries)
        single = "," if self.opening == "(" and len(self.entries) == 1 else ""
        return f"{self.opening}{inside}{single}{self.closing}"


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


def _expression(value: object) -> Brackets | str:
    match value:
        case Encoded():
            return str(value)
        case str():
            return _string(value)
        case None | bool() | int() | float():
            return repr(value)
        case tuple():
            return Brackets("(", tuple(("", _expression(each)) for each in value), ")")
        case Mapping():
            pairs = ((f"{literal(key)}: ", _expression(each)) for key, each in value.items())
            return Brackets("{", tuple(pairs), "}")
        case _:
            raise TypeError(f"no literal: {type(value).__name__}")


def _string(value: str) -> str:
    """In double quotes unless that takes more escapes."""
    quote = "'" if value.count('"') > value.count("'") else '"'
    escaped = value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    ascii_only = "".join(char if " " <= char <= "~" else _escape(char) for char in escaped)
    return f"{quote}{ascii_only}{quote}"


def _escape(char: str) -> str:
    return ascii(char)[1:-1]


def _lines(expression: Brackets | str, prefix: str, first: int, width: int) -> list[str]:
    """The lines of `prefix` and expression, of which the first may be `first` long and the others `width`."""
    flat = f"{prefix}{expression}"
    if isinstance(expression, str) or len(flat) <= first or not expression.entries:
        return [flat]
    inside = width - 4
    together = ", ".join(f"{before}{entry}" for before, entry in expression.entries)
    single = "," if expression.opening == "(" and len(expression.entries) == 1 else ""
    if len(together) + len(single) <= inside:
        body = [together + single]
    else:
        body = []
        for before, entry in expression.entries:
            lines = _lines(entry, before, inside - 1, inside)
            body += [*lines[:-1], f"{lines[-1]},"]
    return [f"{prefix}{expression.opening}", *(f"    {line}" for line in body), expression.closing]
