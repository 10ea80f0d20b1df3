"""The nearest legal name, and the list of what is legal."""

from collections.abc import Sequence

_LISTED = 12
_ABBREVIATED = 3
_LONGEST = 100
"""Letters of a word that is looked at: no one misspells more."""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Help for a misspelt `word` of which only `known` are legal here; empty where nothing is."""
    if near := nearest(word, known):
        return f"did you mean `{near}`?"
    if not known:
        return ""
    names = ", ".join(f"`{name}`" for name in known[:_LISTED])
    rest = len(known) - _LISTED
    return f"there is {names}" + (f" and {rest} more" if rest > 0 else "")


def nearest(word: str, known: Sequence[str]) -> str:
    """The first of those of `known` that are most like `word`; empty where more than a third of the letters
    would have to change.

    A letter too many, too few, another one and two that changed places are each one change, and so is all
    that an abbreviation leaves off (`int`); capitals are none.
    """
    best, least = "", _LONGEST
    for name in known:
        letters = max(len(word), len(name))
        if letters <= _LONGEST:
            changes = _changes(word.lower(), name.lower(), min(letters // 3, least - 1))
            if changes is not None:
                best, least = name, changes
    return best


def _changes(word: str, name: str, most: int) -> int | None:
    """The optimal string alignment distance, as long as it isn't over `most`."""
    if _ABBREVIATED <= len(word) < len(name) and name.startswith(word):
        return 1 if most >= 1 else None
    if abs(len(word) - len(name)) > most:
        return None
    above: list[int] = []
    row = list(range(len(name) + 1))
    for at, letter in enumerate(word):
        above, before, row = row, above, [at + 1]
        for to, other in enumerate(name):
            cost = min(above[to] + (letter != other), above[to + 1] + 1, row[to] + 1)
            if at and to and letter == name[to - 1] and word[at - 1] == other:
                cost = min(cost, before[to - 1] + 1)
            row.append(cost)
        if min(row) > most:
            return None
    return row[-1] if row[-1] <= most else None
