"""How many items end per second, over the last minute: what `wqc run` and `wqc status` show."""

from wqc.runtime.lanes.rate import WINDOW, Rate


def test_nothing_is_known_before_a_second_look() -> None:
    rate = Rate()
    assert rate.per_second() == 0.0
    rate.observe(100.0, 7)
    assert rate.per_second() == 0.0, "what had ended before isn't of this minute"
    rate.observe(100.0, 9)
    assert rate.per_second() == 0.0, "no time has gone by"


def test_it_is_what_ended_between_the_first_look_and_the_last() -> None:
    rate = Rate()
    for now, count in ((100.0, 7), (110.0, 8), (120.0, 12)):
        rate.observe(now, count)
    assert rate.per_second() == 0.25


def test_what_is_older_than_the_window_counts_no_more() -> None:
    """Ten items a second for half a minute, then none."""
    rate = Rate()
    found = {}
    for second in range(91):
        rate.observe(second, min(10 * second, 300))
        found[second] = rate.per_second()
    assert WINDOW == 60
    assert (found[30], found[60], found[75], found[90]) == (10.0, 5.0, 2.5, 0.0)


def test_looks_that_lie_far_apart_are_compared_all_the_same() -> None:
    rate = Rate()
    rate.observe(0.0, 0)
    rate.observe(10 * WINDOW, 60)
    assert rate.per_second() == 0.1


def test_items_that_are_forgotten_are_no_work_undone() -> None:
    rate = Rate()
    rate.observe(0.0, 1000)
    rate.observe(10.0, 400)
    assert rate.per_second() == 0.0
