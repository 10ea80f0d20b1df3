"""The nearest legal name, and the list of what is legal."""

from collections.abc import Sequence
from difflib import get_close_matches

_LISTED = 12


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Help for a misspelt `word` of which only `known` are legal here; empty where nothing is."""
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{near[0]}`?"
    if not known:
        return ""
    names = ", ".join(f"`{name}`" for name in known[:_LISTED])
    rest = len(known) - _LISTED
    return f"there is {names}" + (f" and {rest} more" if rest > 0 else "")
