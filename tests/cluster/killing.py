"""Kills the manager before or after one chosen call takes effect."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from cluster.calls import Call, Meddler, Reply

Moment = Literal["before", "after"]


@dataclass(frozen=True, order=True)
class Point:
    """`before`: the server never sees the call. `after`: it does what it says, and nobody hears of it."""

    call: Call
    moment: Moment

    def __str__(self) -> str:
        return f"{self.moment} {self.call.kind} {self.call.number}"


class Killer(Meddler):
    """`kill` is to be set before the first call. It is called once, when `point` is reached."""

    def __init__(self, point: Point) -> None:
        self._point = point
        self._lock = threading.Lock()
        self.kill: Callable[[], None] = lambda: None
        self.reached = False

    def before(self, call: Call) -> Reply | None:
        return self._meet(Point(call, "before"))

    def after(self, call: Call) -> Reply | None:
        return self._meet(Point(call, "after"))

    def _meet(self, point: Point) -> Reply | None:
        """The caller is dead on return, if this is the point."""
        with self._lock:
            if self.reached or self._point != point:
                return None
            self.reached = True
        self.kill()
        return Reply(0)
