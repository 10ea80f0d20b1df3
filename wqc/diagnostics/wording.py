"""Lists and numbers in messages."""

from collections.abc import Sequence
from math import floor, log10
from typing import TypeVar

T = TypeVar("T")
_LISTED = 6


def listed(names: Sequence[str], word: str = "and") -> str:
    """`` `a`, `b` and `c` ``; the tail of a long list is counted."""
    shown = [f"`{name}`" for name in names[:_LISTED]]
    if len(names) > _LISTED:
        shown.append(f"{len(names) - _LISTED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def path_of(names: Sequence[str]) -> str:
    """`` `a` → `b` → `a` ``; of a long way its ends."""
    shown = [f"`{name}`" for name in both_ends(names)]
    if len(shown) < len(names):
        shown.insert(_LISTED, f"{len(names) - len(shown)} more")
    return " → ".join(shown)


def both_ends(things: Sequence[T]) -> tuple[T, ...]:
    """As many as `path_of` shows."""
    if len(things) <= 2 * _LISTED:
        return tuple(things)
    return (*things[:_LISTED], *things[-_LISTED:])


def number(value: float, digits: int = 2) -> str:
    """At least so many significant digits, never with an exponent: `0.61`, `2.0`, `74`."""
    places = digits - 1 - floor(log10(value)) if value > 0 else 0
    return f"{value:.{max(0, places)}f}"


def numbers(*values: float) -> tuple[str, ...]:
    """With as many digits as it takes to tell different values apart."""
    digits = 2
    while digits < 7 and len({number(value, digits) for value in values}) < len(set(values)):
        digits += 1
    return tuple(number(value, digits) for value in values)
