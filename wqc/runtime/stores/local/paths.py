"""The paths of a container, written as those that stand for them on this machine.

There is no mount: a path is replaced where it stands in text, as a whole or with more below it. What a
program has built in or puts together by itself isn't seen.
"""

import re
from collections.abc import Mapping

_BEFORE = r"(?<![\w.~})\]/-])"
"""Otherwise it is the rest of another path, of a URL or of what a variable begins."""
_AFTER = r"(?![\w-]|\.\w)"


class Paths:
    """`places`: by a path in the container, without a slash at its end, the path here."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        longest_first = sorted(places, key=len, reverse=True)
        self._pattern = re.compile(f"{_BEFORE}(?:{'|'.join(map(re.escape, longest_first))}){_AFTER}")

    def here(self, text: str) -> str:
        return self._pattern.sub(lambda found: self._places[found[0]], text) if self._places else text

    def named(self, text: str) -> list[str]:
        """The places on this machine that the text gets to name."""
        found = self._pattern.findall(text) if self._places else ()
        return [self._places[path] for path in dict.fromkeys(found)]
