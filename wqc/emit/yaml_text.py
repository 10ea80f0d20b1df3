"""Values as YAML that versions 1.1 (PyYAML) and 1.2 (ruamel, Kubernetes) read alike.

A scalar is plain where both read it as the same string, quoted elsewhere. Nested data stands in blocks, short
lists of scalars in brackets, texts of several lines as `|` literals.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from wqc.emit.encoded import Encoded
from wqc.language.values import Raw

FLOW_WIDTH = 80
NEWLINE = "\n"

# What may stand plain: narrower than the specification, on purpose. In a block more may than within brackets.
_START = r"(?:[A-Za-z0-9_/$(]|[-.](?=[-A-Za-z/]))"
_INSIDE = r"-A-Za-z0-9_./@%+=~$^*!?<>|;&()"
_PLAIN_IN_FLOW = re.compile(rf"{_START}(?:[{_INSIDE}]|(?<!\s)#|\ (?=[^\s#]))*")
_PLAIN = re.compile(rf"{_START}(?:[{_INSIDE},'\"\[\]{{}}]|:(?=[^\s:])|(?<!\s)#|\ (?=[^\s#]))*")
# No strings to 1.1 or 1.2: truth values, nulls, numbers of all bases and of sixties, dates.
_RETYPED = re.compile(
    r"y|n|yes|no|on|off|true|false|null|[-+]?\.(?:inf|nan)|[-+]?\.?[0-9][-+0-9a-fxob_.:tz ]*",
    re.IGNORECASE,
)
_DOCUMENT_MARK = re.compile(r"---|\.\.\.")
# What isn't printed as it is; the opposite, all that is, takes ten times as long to compile.
_UNPRINTABLE = r"\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
_NOT_IN_QUOTES = re.compile(rf"[\x00-\x0a{_UNPRINTABLE}]")
_NOT_IN_LITERAL = re.compile(rf"[\x00-\x08{_UNPRINTABLE}]")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


@lru_cache(maxsize=1 << 16, typed=True)
def scalar(value: Raw | float) -> Encoded:
    """One scalar as it stands after `key: ` or `- `. Raises TypeError for anything else."""
    if isinstance(value, str):
        return value if isinstance(value, Encoded) else _text(value)
    if value is None:
        return Encoded("null")
    if isinstance(value, bool):
        return Encoded("true" if value else "false")
    if isinstance(value, int):
        return Encoded(value)
    if isinstance(value, float | Decimal):
        return _number(value)
    raise TypeError(f"no scalar: {type(value).__name__}")


def nested(value: object, indent: int) -> Encoded:
    """What stands after `key:`, with the space or line end before it; further lines at column `indent`."""
    if isinstance(value, str):
        return Encoded(f" {literal(value, indent) if NEWLINE in value else scalar(value)}")
    if isinstance(value, dict):
        return Encoded(_below(mapping_lines(value), indent) if value else " {}")
    if isinstance(value, list | tuple):
        flow = _flow(value)
        return Encoded(_below(sequence_lines(value), indent) if flow is None else f" {flow}")
    return Encoded(f" {scalar(value)}")


def literal(text: str, indent: int) -> Encoded:
    """A `|` literal with its lines at column `indent`, its parent's plus two; quoted where it can't be."""
    body = text.rstrip(NEWLINE)
    if not body.strip() or _NOT_IN_LITERAL.search(text):
        return _text(text)
    ends = len(text) - len(body)
    header = "|"
    first = next(line for line in body.split(NEWLINE) if line)
    if first[0] in " \t":
        header += "2"
    header += ("-", "")[ends] if ends < 2 else "+"
    return Encoded(header + hanging(f"{NEWLINE}{body}{NEWLINE * max(ends - 1, 0)}", indent))


def mapping_lines(value: Mapping[str, object]) -> list[str]:
    """A mapping's lines, from column 0."""
    lines: list[str] = []
    for key, inner in value.items():
        text = f"{scalar(key)}:{nested(inner, 2)}"
        if NEWLINE in text:
            lines += text.split(NEWLINE)
        else:
            lines.append(text)
    return lines


def sequence_lines(value: Sequence[object]) -> list[str]:
    """A list's lines, from column 0, one entry after the other."""
    lines: list[str] = []
    for inner in value:
        if isinstance(inner, dict) and inner:
            entry = mapping_lines(inner)
        elif isinstance(inner, list | tuple) and _flow(inner) is None:
            entry = sequence_lines(inner)
        else:
            first, *more = nested(inner, 2)[1:].split(NEWLINE)
            lines += [f"- {first}", *more]
            continue
        lines.append(f"- {entry[0]}")
        lines += [f"  {line}" if line else "" for line in entry[1:]]
    return lines


def hanging(text: str, indent: int) -> str:
    """All lines but the first moved to the right; empty ones stay so."""
    spaces = " " * indent
    if NEWLINE * 2 not in text + NEWLINE:
        return text.replace(NEWLINE, NEWLINE + spaces)
    first, *others = text.split(NEWLINE)
    return NEWLINE.join([first, *(spaces + line if line else line for line in others)])


def _below(lines: list[str], indent: int) -> str:
    """The lines at column `indent`, each after a line end."""
    spaces = NEWLINE + " " * indent
    return "".join([spaces + line if line else NEWLINE for line in lines])


def _flow(values: Sequence[object]) -> str | None:
    """A list in brackets; None where it is long, nested, or has texts of several lines."""
    entries: list[str] = []
    for value in values:
        if isinstance(value, dict | list | tuple) or (isinstance(value, str) and NEWLINE in value):
            return None
        plain = not isinstance(value, str) or _PLAIN_IN_FLOW.fullmatch(value)
        entries.append(scalar(value) if plain else _quoted(value))  # type: ignore[arg-type]
    flow = f"[{', '.join(entries)}]"
    return flow if len(flow) <= FLOW_WIDTH else None


def _text(value: str) -> Encoded:
    if _PLAIN.fullmatch(value) and not _RETYPED.fullmatch(value) and not _DOCUMENT_MARK.match(value):
        return Encoded(value)
    return _quoted(value)


def _quoted(value: str) -> Encoded:
    if _NOT_IN_QUOTES.search(value):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return Encoded(f'"{_NOT_IN_QUOTES.sub(_escape, escaped)}"')
    if '"' in value or "\\" in value:
        return Encoded("'" + value.replace("'", "''") + "'")
    return Encoded(f'"{value}"')


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _number(value: float | Decimal) -> Encoded:
    """Without exponent: `1e-05` would be a string in YAML 1.1."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    text = format(exact, "f")
    return Encoded(text.rstrip("0").rstrip(".") if "." in text else text)
