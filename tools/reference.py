"""Writes docs/reference/ from the table of the language and the registry of findings.

usage: reference.py [--check]    with --check, writes nothing and exits 1 if a page is out of date
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import wqc.diagnostics.mistakes  # noqa: F401  (fills the registry)
from wqc.diagnostics.finding import Level
from wqc.diagnostics.mistake import MISTAKES
from wqc.diagnostics.page import page
from wqc.language.describe import type_words
from wqc.language.schema import BLOCKS, FUNCTIONS, PARAM_TYPES, RESERVED
from wqc.language.types import Attribute, BlockType, Fraction, Function, Integer, MapOf, Struct, Text, Type

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
WRITTEN = "<!-- Written by tools/reference.py: change the source that it reads, not this page. -->\n"


def language() -> str:
    """Every block, kind, attribute, function and type of param."""
    sections = [
        "# The language: blocks and attributes",
        WRITTEN.strip(),
        "Names that can't be given: " + ", ".join(f"`{word}`" for word in RESERVED) + ".",
        *(section for block in BLOCKS.values() for section in _block(block, "##", block.name)),
        "## Functions",
        *(section for function in FUNCTIONS.values() for section in _function(function)),
        "## Types of params",
        _table(("type", "takes"), ((f"`{name}`", type_words(type_)) for name, type_ in PARAM_TYPES.items())),
    ]
    return "\n\n".join(sections) + "\n"


def findings() -> str:
    """Every finding: a table of contents by level, then the pages that `wqc explain` prints."""
    codes = sorted(MISTAKES)
    sections = ["# Findings", WRITTEN.strip(), "`wqc explain CODE` prints one of these pages."]
    for level in Level:
        rows = [
            (f"[{code}](#{_anchor(code)})", MISTAKES[code].title)
            for code in codes
            if MISTAKES[code].level is level
        ]
        if rows:
            sections += [f"**{level.value.capitalize()}s**", _table(("code", "what"), rows)]
    return "\n\n".join([*sections, *(page(MISTAKES[code]).strip() for code in codes)]) + "\n"


def _block(block: BlockType, heading: str, title: str) -> list[str]:
    sections = [f"{heading} `{title}`", block.doc]
    outputs = [f"its name followed by `.{output}`" if output else "its name" for output in block.outputs]
    if outputs:
        sections.append("Can be read as " + ", ".join(outputs) + ".")
    if block.fields:
        fields = ", ".join(f"`{name}` ({type_})" for name, type_ in block.fields)
        sections.append(f"`item.data` has {fields}.")
    if block.attributes:
        sections.append(_attributes(block.attributes))
    for kind in block.kinds:
        sections += _block(kind, heading + "#", f"{title}: {kind.name}")
    return sections


def _function(function: Function) -> list[str]:
    signature = ", ".join(
        [attribute.name for attribute in function.positional]
        + [f"{attribute.name} = …" for attribute in function.keywords]
    )
    rows = (*function.positional, *function.keywords)
    return [f"### `{function.name}({signature})`", function.doc, _attributes(rows)]


def _attributes(attributes: Sequence[Attribute]) -> str:
    rows = [row for attribute in attributes for row in _rows(attribute, "")]
    return _table(("attribute", "takes", "default", "meaning"), rows)


def _rows(attribute: Attribute, prefix: str) -> list[tuple[str, ...]]:
    default = "required" if attribute.required else f"`{attribute.default}`" if attribute.default else ""
    name = prefix + attribute.name
    rows = [(f"`{name}`", _takes(attribute.type), default, attribute.doc)]
    if isinstance(attribute.type, Struct):
        rows += [row for field in attribute.type.fields for row in _rows(field, f"{name}.")]
    return rows


def _takes(type_: Type) -> str:
    words = type_words(type_)
    match type_:
        case Text(_, what) if what:
            return f"{words}: {what}"
        case Integer(low, high) | Fraction(low, high):
            return f"{words} from {low:g} to {high:,g}" if high < 1_000_000_000 else f"{words} from {low:g}"
        case MapOf(_, _, what) if what:
            return f"{words}; a key is {what}"
        case _:
            return words


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _anchor(code: str) -> str:
    """As GitHub makes it from the page's heading."""
    heading = f"{code}: {MISTAKES[code].title}".lower()
    kept = (character for character in heading if character.isalnum() or character in " -_")
    return "".join(kept).replace(" ", "-")


def main() -> int:
    outdated = []
    for name, text in (("language.md", language()), ("findings.md", findings())):
        file = FOLDER / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            outdated.append(name)
            if "--check" not in sys.argv[1:]:
                file.write_text(text, encoding="utf-8")
    if "--check" not in sys.argv[1:]:
        return 0
    for name in outdated:
        print(f"docs/reference/{name} is out of date: run `make docs`", file=sys.stderr)
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
