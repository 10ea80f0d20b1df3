"""What reading a value gives besides the value: that there is none, and where it was used."""

from typing import Final, NamedTuple

from wqc.diagnostics.source import Span


class Invalid:
    """Stands for a value about which something was already reported."""


INVALID: Final = Invalid()


class Place(NamedTuple):
    """Where a value is used: the attribute's name, the span to point at, and the param that it came
    through.
    """

    name: str
    span: Span
    param: Span | None = None
