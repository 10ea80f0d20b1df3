"""The nearest legal name, and the list of what is legal."""

from collections.abc import Sequence
from difflib import get_close_matches

_LISTED = 12


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
    """The one of `known` that is most like `word`; empty where none is much like it."""
    return next(iter(get_close_matches(word, known, n=1, cutoff=0.6)), "")
