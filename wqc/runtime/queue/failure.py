"""What a reader of a `.failed` stream gets as data: `{item, reason, exit_code, attempts, message}`."""

from dataclasses import dataclass
from typing import Any

from wqc.patterns.item import Item
from wqc.runtime.text import encode


@dataclass(frozen=True, slots=True)
class FailureData:
    value: dict[str, Any]
    text: str


def failure_text(
    item: Item, reason: str, exit_code: int | None = None, attempts: int = 0, message: str = ""
) -> FailureData:
    """`attempts` is 0 for an item that failed in a pattern node: no worker ever saw it."""
    value = {
        "item": {"name": item.name, "version": item.version, "data": item.data},
        "reason": reason,
        "exit_code": exit_code,
        "attempts": attempts,
        "message": message,
    }
    return FailureData(value, encode(value))
