"""A watch that leaves out, repeats and mixes up what happens; a server that refuses in every way it has."""

import json
import random
import time
from collections import Counter, deque
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from cluster.calls import Call, Meddler, Reply
from cluster.client import Client
from cluster.crashing import Run, expected

SECONDS = 240


def status(code: int, message: str) -> bytes:
    """What the API server says when it refuses."""
    return json.dumps({"kind": "Status", "apiVersion": "v1", "code": code, "message": message}).encode()


class Liar(Meddler):
    """Tells a third of what happens on the watches of Jobs and pods wrongly."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.lies: Counter[str] = Counter()

    def watched(self, call: Call, lines: Iterator[bytes]) -> Iterator[bytes]:
        if call.kind == "watch configmaps":
            yield from lines
            return
        told: deque[bytes] = deque(maxlen=30)
        late: list[bytes] = []
        for line in lines:
            lie = self._lie()
            self.lies[lie] += 1
            match lie:
                case "dropped":
                    pass
                case "reordered":
                    late.append(line)
                    continue
                case "stale" if told:
                    yield self._chance.choice(told)
                    yield line
                case "too old":
                    gone = {"type": "ERROR", "object": json.loads(status(410, "too old"))}
                    yield json.dumps(gone).encode() + b"\n"
                    return
                case _:
                    yield line
            told.append(line)
            if late and self._chance.random() < 0.5:
                yield late.pop(0)

    def _lie(self) -> str:
        if self._chance.random() > 0.33:
            return ""
        return self._chance.choices(["dropped", "reordered", "stale", "too old"], [4, 4, 4, 1])[0]


@pytest.mark.parametrize("seed", range(2))
def test_a_watch_that_lies(simulated_cluster: Client, tmp_path: Path, seed: int) -> None:
    liar = Liar(seed)
    run = Run(simulated_cluster, f"lies-{seed}", tmp_path / "run", liar, "audit=2 lease=15")
    assert run.until_over(SECONDS) == expected()
    assert run.starts == 1
    assert {"dropped", "reordered", "stale", "too old"} <= liar.lies.keys()


REFUSALS = (
    Reply(429, status(429, "too many requests, please try again later"), {"Retry-After": "1"}),
    Reply(500, b"Internal Server Error"),
    Reply(503, status(503, "the server is shutting down"), {"Retry-After": "1"}),
    Reply(403, status(403, "denied by a webhook that has a bad day")),
    Reply(0),
)
LOST_ANSWERS = (Reply(0), Reply(504, b"<html>Gateway Timeout</html>"))


class Refuser(Meddler):
    """Every eighth call is refused, every eighth is done and its answer lost."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._refusals, self._lost = cycle(REFUSALS), cycle(LOST_ANSWERS)
        self.said: Counter[int] = Counter()

    def before(self, call: Call) -> Reply | None:
        return self._now_and_then(self._refusals)

    def after(self, call: Call) -> Reply | None:
        return None if call.kind.startswith("watch") else self._now_and_then(self._lost)

    def _now_and_then(self, replies: Iterator[Reply]) -> Reply | None:
        if self._chance.random() > 0.125:
            return None
        reply = next(replies)
        self.said[reply.status] += 1
        return reply


@pytest.mark.parametrize("seed", range(2))
def test_a_server_that_refuses_a_quarter_of_all_calls(
    simulated_cluster: Client, tmp_path: Path, seed: int
) -> None:
    refuser = Refuser(seed)
    # a Lease that a busy server doesn't renew is lost, and a manager that lost it is started again
    run = Run(simulated_cluster, f"refusals-{seed}", tmp_path / "run", refuser, "refused_limit=1")
    found = run.until_over(SECONDS)
    assert found == expected()
    assert refuser.said.keys() == {reply.status for reply in REFUSALS + LOST_ANSWERS}


class Busy(Meddler):
    """The first Jobs can't be made, and the server says for how long."""

    def __init__(self, code: int, seconds: int, times: int) -> None:
        self._code = code
        self._seconds = seconds
        self._times = times
        self.asked: list[float] = []

    def before(self, call: Call) -> Reply | None:
        if call.kind != "POST jobs" or call.number > self._times:
            return None
        self.asked.append(time.monotonic())
        return Reply(self._code, status(self._code, "busy"), {"Retry-After": str(self._seconds)})


@pytest.mark.parametrize("code", [429, 503])
def test_a_server_that_says_when_to_come_again_is_left_alone_until_then(
    simulated_cluster: Client, tmp_path: Path, code: int
) -> None:
    busy = Busy(code, seconds=3, times=24)
    run = Run(simulated_cluster, f"busy-{code}", tmp_path / "run", busy)
    assert run.until_over(SECONDS) == expected()
    # eight lanes' worth are under way together, and a second goes by between no two of them
    pauses = [later - earlier for earlier, later in zip(busy.asked, busy.asked[1:], strict=False)]
    assert [pause > 2.5 for pause in pauses if pause > 1.0] == [True, True]
