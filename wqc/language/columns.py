"""Blocks of one line each, below each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from wqc.language.rows import WIDTH


@dataclass(frozen=True, slots=True)
class OneLiner:
    """A block without line breaks: `name` is its kind and name, `entries` the text of each key and value."""

    name: str
    base: str
    entries: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """The block by itself."""
        return _line(self, 0, 0, [0] * len(self.entries))


def in_columns(blocks: Sequence[OneLiner]) -> list[str]:
    """Their lines: names, kinds and braces in columns, and equal attributes too, if all of it fits."""
    names = max((len(block.name) + 1 for block in blocks if block.base), default=0)
    heads = max((len(_head(block, names)) for block in blocks), default=0)
    lines: list[str] = []
    for _keys, same in groupby(blocks, key=lambda block: [key for key, _ in block.entries]):
        group = list(same)
        widths = [_width([block.entries[at] for block in group]) for at in range(len(group[0].entries))]
        lines += [_line(block, names, heads, widths) for block in group]
    return lines if all(len(line) <= WIDTH for line in lines) else [block.text() for block in blocks]


def _width(entries: Sequence[tuple[str, str]]) -> int:
    """How wide the column of an attribute is; a map's end begins none."""
    if any(value.startswith("{") for _, value in entries):
        return 0
    return max(len(f"{key} = {value},") for key, value in entries)


def _line(block: OneLiner, names: int, heads: int, widths: Sequence[int]) -> str:
    head = _head(block, names).ljust(heads)
    cells = [f"{key} = {value}" for key, value in block.entries]
    padded = [f"{cell},".ljust(width) for cell, width in zip(cells[:-1], widths, strict=False)]
    return f"{head} {{ {' '.join([*padded, *cells[-1:]])} }}" if cells else f"{head} {{}}"


def _head(block: OneLiner, names: int) -> str:
    return f"{block.name + ':':{names}} {block.base}" if block.base else block.name
