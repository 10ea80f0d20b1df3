"""JSON texts: what items, results and annotations are made of."""

import json
import math
from collections.abc import Iterable
from typing import Any

DEEPEST = 500
"""Levels of lists and maps in what is taken in: Python's own limit leaves room to wrap and to write it."""

NUMBER_SHOWN = 40
"""Characters of a number that people are told."""


def encode(value: Any) -> str:
    """Compact JSON that UTF-8 can carry. Raises ValueError for what JSON can't say."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    return text if _is_utf8(text) else json.dumps(value, allow_nan=False, separators=(",", ":"))


def decode(text: str | bytes) -> Any:
    """Of what comes from others. Raises ValueError for anything but JSON, also for the NaN and Infinity that
    Python would accept, for a number that it takes for Infinity, and for what is nested deeper than DEEPEST.
    """
    value = decode_known(text)
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inner(each) if isinstance(inner, list | dict)]
        if not level:
            return value
    raise _too_deep()


def decode_known(text: str | bytes) -> Any:
    """As `decode`, of what it took before and may be part of something larger now, as what failed is."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise _too_deep() from None


def _inner(value: Any) -> Iterable[Any]:
    match value:
        case list():
            return value
        case dict():
            return value.values()
        case _:
            return ()


def _too_deep() -> ValueError:
    return ValueError(f"nested deeper than {DEEPEST} levels")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number[:NUMBER_SHOWN]} is larger than any number that can be worked with")
    return value


def scalar(value: Any) -> str | None:
    """The raw text of a top-level scalar; None for lists, maps and what UTF-8 can't carry."""
    match value:
        case str():
            return value if _is_utf8(value) else None
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return json.dumps(value)
        case _:
            return None


def _is_utf8(text: str) -> bool:
    """Whether UTF-8 can carry it: lone surrogates it can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def one_line(text: str) -> str:
    """Printable, whatever an item is called."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
