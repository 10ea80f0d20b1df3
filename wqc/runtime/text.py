"""JSON texts: what items, results and annotations are made of."""

import json
from typing import Any


def encode(value: Any) -> str:
    """Compact JSON that UTF-8 can carry. Raises ValueError for what JSON can't say."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    return text if _is_utf8(text) else json.dumps(value, allow_nan=False, separators=(",", ":"))


def decode(text: str | bytes) -> Any:
    """Raises ValueError for anything but JSON, also for the NaN and Infinity that Python would accept."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


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
