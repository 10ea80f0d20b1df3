"""The difference between two texts, as `diff -u` shows it."""

from difflib import unified_diff

_COLOURS = {"+": "32", "-": "31", "@": "36"}


def diff(before: str | None, after: str | None, name: str, *, colour: bool = False) -> str:
    """Empty if they are equal; `None` is a file that doesn't exist."""
    lines = unified_diff(
        _lines(before or ""),
        _lines(after or ""),
        name if before is not None else "/dev/null",
        name if after is not None else "/dev/null",
    )
    return "".join(_line(line, colour) for line in lines)


def _lines(text: str) -> list[str]:
    *lines, rest = text.split("\n")
    return [f"{line}\n" for line in lines] + ([rest] if rest else [])


def _line(line: str, colour: bool) -> str:
    body, end = line.rstrip("\n"), "\n" if line.endswith("\n") else "\n\\ No newline at end of file\n"
    style = "1" if line.startswith(("---", "+++")) else _COLOURS.get(line[:1], "")
    return (f"\x1b[{style}m{body}\x1b[0m" if colour and style else body) + end
