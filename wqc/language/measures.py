"""Numbers with units: their reading, and the guess at what was meant where one doesn't fit."""

import re
from decimal import Decimal
from functools import lru_cache

from wqc.language.values import Cpu, Duration, Memory

_PART = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]*)")

DURATION_UNITS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
MEMORY_UNITS = {
    "k": 1000,
    "M": 1000**2,
    "G": 1000**3,
    "T": 1000**4,
    "Ki": 1 << 10,
    "Mi": 1 << 20,
    "Gi": 1 << 30,
    "Ti": 1 << 40,
}


def _parts(text: str) -> list[tuple[Decimal, str]]:
    return [(Decimal(number), unit) for number, unit in _PART.findall(text)]


@lru_cache
def duration(text: str) -> Duration | None:
    """`1h30m` → 5,400,000,000 µs; `None` where a unit is missing or none of time."""
    total = Decimal(0)
    for number, unit in _parts(text):
        if unit not in DURATION_UNITS:
            return None
        total += number * DURATION_UNITS[unit]
    return Duration(int(total)) if total == int(total) else None


@lru_cache
def cpu(text: str) -> Cpu | None:
    """`500m` or `0.5` → 500 millicores; `None` for anything else or less than a millicore's precision."""
    match _parts(text):
        case [(number, "m")]:
            millicores = number
        case [(number, "")]:
            millicores = number * 1000
        case _:
            return None
    return Cpu(int(millicores)) if millicores == int(millicores) else None


@lru_cache
def memory(text: str) -> Memory | None:
    """`80Gi` → 85,899,345,920 bytes; `None` where the unit is missing or none of memory."""
    match _parts(text):
        case [(number, unit)] if unit in MEMORY_UNITS:
            size = number * MEMORY_UNITS[unit]
            return Memory(int(size)) if size == int(size) else None
    return None


def suggest_duration(text: str) -> str:
    """What may have been meant where `text` is no duration; empty without an idea."""
    return (
        f"{text}s"
        if text.isdigit()
        else _with_unit(text, {"sec": "s", "min": "m", "hr": "h", "H": "h", "S": "s"})
    )


def suggest_cpu(text: str) -> str:
    number, unit = _single(text)
    return number if unit in ("c", "cpu", "cores", "core") else ""


def suggest_memory(text: str) -> str:
    """`512m` → `512Mi`, `2g` → `2Gi`, `512` → `512Mi`."""
    number, unit = _single(text)
    guess = {
        "": "Mi",
        "m": "Mi",
        "mb": "M",
        "g": "Gi",
        "gb": "G",
        "ki": "Ki",
        "mi": "Mi",
        "gi": "Gi",
        "kb": "k",
    }
    meant = guess.get(unit.lower())
    return f"{number}{meant}" if number and meant else ""


def _with_unit(text: str, units: dict[str, str]) -> str:
    number, unit = _single(text)
    return f"{number}{units[unit]}" if unit in units else ""


def _single(text: str) -> tuple[str, str]:
    found = _PART.fullmatch(text)
    return (found[1], found[2]) if found else ("", "")
