"""A test that lacks something is skipped on a machine of one's own, and fails where CI is set."""

import pytest

from support.need import unavailable


def outcome() -> BaseException:
    """Caught, whichever it is: a skip would end the test that asks as well, unseen."""
    with pytest.raises((pytest.skip.Exception, pytest.fail.Exception)) as found:
        unavailable("no compiler")
    return found.value


def test_it_is_skipped_with_a_line_that_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    found = outcome()
    assert isinstance(found, pytest.skip.Exception)
    assert str(found) == "no compiler"


def test_in_ci_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    found = outcome()
    assert isinstance(found, pytest.fail.Exception)
    assert str(found) == "needed in CI: no compiler"
