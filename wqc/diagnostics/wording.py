"""Lists and numbers in messages."""

from collections.abc import Sequence
from math import floor, log10

_LISTED = 6


def listed(names: Sequence[str], word: str = "and") -> str:
    """`` `a`, `b` and `c` ``; the tail of a long list is counted."""
    shown = [f"`{name}`" for name in names[:_LISTED]]
    if len(names) > _LISTED:
        shown.append(f"{len(names) - _LISTED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"


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
