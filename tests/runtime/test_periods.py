"""How long is waited for what, and `WQC_PERIODS`."""

import pytest

from wqc.runtime.periods import Periods, periods_from


def test_the_variable_changes_what_it_names() -> None:
    periods = periods_from({"WQC_PERIODS": "backoff=0.1 flush=0"}, Periods(listing=2.0))
    assert (periods.backoff, periods.flush, periods.listing, periods.lease) == (0.1, 0.0, 2.0, 15.0)


@pytest.mark.parametrize("value", ["", "soon", "5s", "-1", "nan", "inf", "-inf", "1e999"])
def test_a_value_that_cannot_be_is_named(value: str) -> None:
    with pytest.raises(ValueError, match="WQC_PERIODS") as refusal:
        periods_from({"WQC_PERIODS": f"backoff=1 flush={value}"})
    assert str(refusal.value) == f"WQC_PERIODS: flush={value}: a number of seconds, 0 or more, is needed"


def test_a_name_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match=r"^WQC_PERIODS: flsh is no period; there are announce, audit"):
        periods_from({"WQC_PERIODS": "flsh=1"})


def test_a_source_that_was_away_for_long_is_asked_within_a_minute() -> None:
    periods = Periods()
    assert [periods.until_listing(failures) for failures in (0, 1, 2, 3)] == [5.0, 1.0, 2.0, 4.0]
    assert periods.until_listing(10_000) == 60.0
