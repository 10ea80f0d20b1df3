"""Which lanes of a queue can work, told from what became of their attempts (design, section 4).

A lane is unhealthy once, within five minutes, no item succeeded in it and three different ones failed for
infrastructure reasons: they can't start, or were lost with their node. Its next success makes it well.
"""

from collections.abc import Sequence

FAILURES = 3
"""So many different items, or as many as the lane may work on at a time."""


class Health:
    """`window` and `probe` are the periods `unhealthy` and `probe`; times are of any one clock. Seconds."""

    def __init__(self, lanes: Sequence[str], window: float, probe: float) -> None:
        self._window = window
        self._probe = probe
        self._failures: dict[str, dict[bytes, float]] = {lane: {} for lane in lanes}
        self._succeeded = dict.fromkeys(lanes, float("-inf"))
        self._probed: dict[str, float] = {}
        """When an item was last tried in each unhealthy lane."""

    def succeeded(self, lane: str, now: float) -> None:
        self._succeeded[lane] = max(self._succeeded[lane], now)
        self._failures[lane].clear()
        self._probed.pop(lane, None)

    def failed(self, lane: str, item: bytes, at_once: int, now: float) -> None:
        """The item's attempt failed for an infrastructure reason. `at_once`: how many the lane works on."""
        failures = self._failures[lane]
        failures[item] = now
        for old in [each for each, at in failures.items() if at < now - self._window]:
            del failures[old]
        is_dry = self._succeeded[lane] <= now - self._window
        if len(self._failures) > 1 and is_dry and len(failures) >= min(FAILURES, at_once):
            self._probed.setdefault(lane, now)

    def is_well(self, lane: str) -> bool:
        """A queue's only lane always is: there is nowhere else to go."""
        return lane not in self._probed

    @property
    def healthy(self) -> list[str]:
        return [lane for lane in self._failures if lane not in self._probed]

    def next_probe(self, lane: str) -> float:
        """When one item may be tried in an unhealthy lane."""
        return self._probed[lane] + self._probe

    def next_look(self, lane: str) -> float:
        """When there is something to do about a lane: try an item in it, or find that it is unhealthy."""
        return self.next_probe(lane) if lane in self._probed else self._succeeded[lane] + self._window

    def probes(self, lane: str, now: float) -> None:
        """One is tried."""
        self._probed[lane] = now
