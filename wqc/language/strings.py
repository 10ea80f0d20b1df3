"""What stands between a string's or a script's quotes."""

import re
import textwrap

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.source import Source, Span
from wqc.language.syntax import Name

_SPECIAL = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.)|\$\$\{|\$\{([^}\"]*)\}?")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}


def decoded(source: Source, start: int, end: int) -> tuple[tuple[str | Name, ...], list[Finding]]:
    """The parts of the string whose quotes are the first and last of the characters `start..end`."""
    text = source.text[start + 1 : end - 1]
    if "\\" not in text and "${" not in text:
        return (text,) if text else (), []
    parts: list[str | Name] = []
    literal, at = "", 0
    for match in _SPECIAL.finditer(text):
        literal += text[at : match.start()]
        at = match.end()
        code, letter, name = match.groups()
        if code is not None:
            literal += chr(int(code, 16))
        elif letter is not None:
            literal += _ESCAPES[letter]
        elif name is None:
            literal += "${"
        else:
            if literal:
                parts.append(literal)
            literal = ""
            begin = start + 1 + match.start(3)
            parts.append(Name(name, Span(source, begin, begin + len(name))))
    literal += text[at:]
    if literal:
        parts.append(literal)
    return tuple(parts), []


def script_text(raw: str) -> str:
    """A script without the indentation that all its lines share, nor the line breaks beside its quotes."""
    if "\n" not in raw:
        return raw
    first, _, rest = raw.partition("\n")
    if first.strip():
        rest = first + "\n" + rest
    return textwrap.dedent(rest.rstrip(" \t")).rstrip("\n") + "\n"
