"""When a queue that is empty now is empty for good, by the looks at it."""

from wqc.runtime.batch.emptiness import Emptiness
from wqc.runtime.batch.messages import Count


def ends() -> Emptiness:
    return Emptiness(wait=600, settled=15, now=0)


def test_what_was_counted_before_the_first_look_is_not_seen() -> None:
    empty = ends()
    assert not empty.is_final(Count(0, (7, 7, 7)), 1)
    assert not empty.is_final(Count(0, (7, 7, 7)), 599)
    assert empty.is_final(Count(0, (7, 7, 7)), 600)


def test_what_came_and_went_between_two_looks_is_seen_and_the_quiet_begins_after_it() -> None:
    empty = ends()
    assert not empty.is_final(Count(0), 1)
    assert not empty.is_final(Count(0, (1, 0, 0)), 4)
    assert not empty.is_final(Count(0, (1, 1, 1)), 7)
    assert not empty.is_final(Count(0, (1, 1, 1)), 10)
    assert not empty.is_final(Count(0, (1, 1, 1)), 24)
    assert empty.is_final(Count(0, (1, 1, 1)), 25)


def test_a_broker_that_counts_anew_has_had_no_message_for_that() -> None:
    empty = ends()
    for now, so_far in [(1, (9, 9, 9)), (4, ()), (7, (0, 0, 0)), (40, (0, 0, 0))]:
        assert not empty.is_final(Count(0, so_far), now)
    assert not empty.is_final(Count(0, (1, 1, 1)), 43)
    assert not empty.is_final(Count(0, (1, 1, 1)), 46)
    assert empty.is_final(Count(0, (1, 1, 1)), 61)


def test_while_nobody_can_say_the_quiet_does_not_last_on() -> None:
    empty = ends()
    assert not empty.is_final(Count(1), 1)
    assert not empty.is_final(Count(0), 4)
    empty.unknown()
    assert not empty.is_final(Count(0), 30)
    assert empty.is_final(Count(0), 45)
