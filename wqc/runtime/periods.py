"""How long the manager waits for what; tests shorten all of it. Seconds."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

VARIABLE = "WQC_PERIODS"


@dataclass(frozen=True, slots=True)
class Periods:
    backoff: float = 10.0
    """Before the second attempt at an item; doubled for each further one."""
    backoff_limit: float = 360.0
    flush: float = 30.0
    """How long a finished item waits for others before the ledger is written."""
    listing: float = 5.0
    """Between two listings of a source."""
    retry_listing: float = 1.0
    """After a listing that failed; doubled up to listing_limit."""
    listing_limit: float = 60.0
    """A source that was away for long isn't waited for much longer once it is back."""
    refused: float = 1.0
    """After a Job was refused without word when to ask again; doubled up to refused_limit."""
    refused_limit: float = 30.0
    audit: float = 600.0
    """Between two listings of all Jobs: what a watch left out is found out. And until a source that lists an
    item still is told again that it is done.
    """
    lease: float = 15.0
    """How long a manager is alone after it last said that it lives; whole seconds."""
    rest: float = 10.0
    """After a listing that was long, how many times as long until the next."""
    remote: float = 30.0
    """Between two looks at a repository, which is somebody else's server."""
    patience: float = 10.0
    """How long a Job may have no running container before its Events are asked why."""
    owner: float = 30.0
    """Between two looks at whether the queues' ConfigMaps are still there."""
    lost: float = 86400.0
    """How long it is said that one of them was lost."""
    announce: float = 60.0
    """Between two Events of a queue that stays blocked, or is again."""
    lost_node: float = 300.0
    """How long a pod that should be gone may stay before its node counts as lost."""
    unhealthy: float = 300.0
    """How long nothing succeeds in a lane before three lost items make it unhealthy."""
    probe: float = 60.0
    """Between two items that are tried in an unhealthy lane."""
    request: float = 30.0
    """How long a source may take to answer."""

    take: float = 0.5
    """How long a batch's worker that found no message waits before it asks again."""
    hold: float = 30.0
    """Without a sign of life for so long, a Redis server's message is another worker's of the batch."""
    look: float = 3.0
    """Between two looks at how many messages of a measured batch are left."""
    empty: float = 15.0
    """How long no message may be left before a batch is done."""

    report: float = 5.0
    """Between two writes of what the manager says about itself."""

    forget: float = 7 * 86400.0
    """How long no source may have listed a finished item before it is forgotten."""

    def until_listing(self, failures: int) -> float:
        """From one listing of a source to the next, after so many in a row that failed."""
        if not failures:
            return self.listing
        return min(self.doubled(self.retry_listing, failures), self.listing_limit)

    def backoff_after(self, failures: int) -> float:
        return self.doubled(self.backoff, failures)

    def doubled(self, first: float, times: int) -> float:
        """What is waited after it has failed so many times in a row; `first` after the first time."""
        return float(min(first * 2.0 ** min(times - 1, 32), self.backoff_limit))


def periods_from(environment: Mapping[str, str] = os.environ, usual: Periods | None = None) -> Periods:
    """`WQC_PERIODS="backoff=0.1 flush=0.5"`. Raises ValueError for a name or value that can't be, and says
    which.
    """
    known = {field.name for field in fields(Periods)}
    changes: dict[str, float] = {}
    for setting in environment.get(VARIABLE, "").split():
        name, _, value = setting.partition("=")
        if name not in known:
            raise ValueError(f"{VARIABLE}: {name} is no period; there are {', '.join(sorted(known))}")
        changes[name] = _seconds(name, value)
    return replace(usual or Periods(), **changes)


def _seconds(name: str, value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"{VARIABLE}: {name}={value}: a number of seconds, 0 or more, is needed")
    return seconds
