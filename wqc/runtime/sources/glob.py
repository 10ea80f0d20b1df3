"""Glob patterns over paths: `*` within a folder, `**` for any folders, `?`, `[a-z]`."""

import re
from dataclasses import dataclass
from typing import Self

Places = frozenset[int]
"""How much of the pattern the folders so far have used up, in every way that it can be read."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern, part by part, so that a walk enters only folders in which something can match.

    As in a shell, `*`, `?` and `**` don't match a leading dot unless `hidden`: what starts with one is often
    half-written or the storage's own (`.snapshot`).
    """

    parts: tuple[re.Pattern[str] | None, ...]
    """None stands for `**`."""
    hidden: bool

    @classmethod
    def of(cls, text: str, hidden: bool = False) -> Self:
        parts = text.strip("/").split("/")
        if parts[-1] == "**":
            parts.append("*")
        return cls(tuple(None if part == "**" else _part(part, hidden) for part in parts), hidden)

    def start(self) -> Places:
        return self._closed({0})

    def enter(self, places: Places, folder: str) -> Places:
        """Empty if nothing below the folder can match."""
        following: set[int] = set()
        for place in places:
            if place == len(self.parts) - 1:
                continue
            part = self.parts[place]
            if part is None:
                if self.hidden or not folder.startswith("."):
                    following.add(place)
            elif part.fullmatch(folder):
                following.add(place + 1)
        return self._closed(following)

    def takes(self, places: Places, file: str) -> bool:
        last = self.parts[-1]
        return len(self.parts) - 1 in places and last is not None and last.fullmatch(file) is not None

    def matches(self, path: str) -> bool:
        *folders, file = path.split("/")
        places = self.start()
        for folder in folders:
            places = self.enter(places, folder)
        return self.takes(places, file)

    def _closed(self, places: set[int]) -> Places:
        """`**` may stand for no folder at all."""
        for place in sorted(places):
            while self.parts[place] is None:
                place += 1
                places.add(place)
        return frozenset(places)


def _part(text: str, hidden: bool) -> re.Pattern[str]:
    pieces: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character == "*":
            pieces.append(".*")
        elif character == "?":
            pieces.append(".")
        elif character == "[" and (end := text.find("]", position + 1)) > 0:
            inside = re.sub(r"([\\\[&~|])", r"\\\1", text[position:end])
            position = end + 1
            negated = inside[:1] in ("!", "^")
            pieces.append(f"[{'^' if negated else ''}{inside[1:] if negated else inside}]")
        else:
            pieces.append(re.escape(character))
    dot = "" if hidden or text.startswith(".") else r"(?!\.)"
    return re.compile(dot + "".join(pieces), re.DOTALL)
