"""What a broker wants people to know though it is well, for as long as it is news."""

import time

NEWS = 3600.0
"""Seconds that it is shown; the log has it for longer."""


class Notices:
    def __init__(self) -> None:
        self._text = ""
        self._until = 0.0

    @property
    def text(self) -> str:
        return self._text if time.monotonic() < self._until else ""

    def say(self, text: str) -> None:
        self._text = text
        self._until = time.monotonic() + NEWS
