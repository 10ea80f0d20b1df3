"""Parallelism follows the book: stable at the rate of arrivals, and a backlog within its deadline."""

from hypothesis import given
from hypothesis import strategies as st

from wqc.contract.settings import Lane, Parallelism
from wqc.runtime.lanes.arrivals import Arrivals
from wqc.runtime.lanes.autoscale import SLACK, Load, wanted
from wqc.runtime.lanes.scaler import STEP_DOWN, Scaler, SlotTime

SECONDS = st.floats(0.01, 1e6)
HOUR = 3600.0


def test_the_books_example() -> None:
    """A minute an item and four at a time bear an arrival every 16 seconds, not one every 15."""
    assert wanted(4, Load(0, 16.0, 60.0), 1, 20, HOUR) == 4
    assert wanted(4, Load(0, 15.0, 60.0), 1, 20, HOUR) == 5


def test_a_backlog_is_worked_off_within_its_deadline() -> None:
    assert wanted(1, Load(1000, None, 36.0), 1, 20, HOUR) == 10
    assert wanted(1, Load(1000, None, 36.0), 1, 20, HOUR / 4) == 20


def test_nothing_known_asks_for_nothing() -> None:
    assert wanted(1, Load(10_000, 1.0, None), 1, 20, HOUR) == 1


@given(st.integers(1, 50), st.integers(0, 10**6), st.none() | SECONDS, st.none() | SECONDS, SECONDS)
def test_it_stays_within_its_bounds(
    now: int, backlog: int, interval: float | None, slot: float | None, deadline: float
) -> None:
    assert 2 <= wanted(now, Load(backlog, interval, slot), 2, 30, deadline) <= 30


@given(st.integers(1, 100), SECONDS, SECONDS)
def test_going_up_is_enough_and_going_down_leaves_slack(now: int, interval: float, slot: float) -> None:
    target = wanted(now, Load(0, interval, slot), 1, 10**9, HOUR)
    busy = slot / interval
    if target > now:
        assert target - 1 <= busy < target
    elif target < now:
        assert target == now - 1
        assert busy < SLACK * target
    elif now > 1:
        assert SLACK * (now - 1) <= busy < now


@given(st.integers(1, 100), SECONDS, SECONDS)
def test_it_comes_to_rest(now: int, interval: float, slot: float) -> None:
    load = Load(0, interval, slot)
    for _ in range(200):
        following = wanted(now, load, 1, 50, HOUR)
        if following == now:
            return
        now = following
    raise AssertionError("it goes up and down")


def test_what_is_stated_gives_way_to_what_is_seen() -> None:
    arrivals = Arrivals(60.0, now=0.0)
    assert arrivals.interval(0.0) == 60.0
    for second in range(1, 3601):
        arrivals.add(float(second))
    assert 1.0 < (arrivals.interval(3600.0) or 0) < 1.2
    assert 59.0 < (arrivals.interval(1e6) or 0) < 600.0


def test_without_a_statement_nothing_is_known_until_something_arrives() -> None:
    arrivals = Arrivals(None, now=0.0)
    assert arrivals.interval(10.0) is None
    arrivals.add(10.0)
    assert arrivals.interval(20.0) == 20.0


def test_the_slot_time_is_the_stated_one_until_one_is_seen() -> None:
    slot = SlotTime(2.0)
    assert slot.mean == 2.0
    slot.add(10.0)
    assert slot.mean == 10.0
    for _ in range(100):
        slot.add(4.0)
    assert abs((slot.mean or 0) - 4.0) < 0.01


def test_a_burst_takes_it_up_at_once_and_down_step_by_step() -> None:
    scaler = Scaler(Lane("", Parallelism(1, 10)), arrives=100.0, deadline=60.0, now=0.0)
    assert scaler.scale(backlog=300, slot=1.0, now=0.0) == 5
    assert scaler.scale(backlog=0, slot=1.0, now=1.0) == 5
    steps = [scaler.scale(backlog=0, slot=1.0, now=STEP_DOWN * step) for step in range(1, 7)]
    assert steps == [4, 3, 2, 1, 1, 1]
