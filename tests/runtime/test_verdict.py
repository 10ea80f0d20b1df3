"""What a finished Job means for its item: results as they were asked for, failures that count, and others."""

from dataclasses import replace

import pytest

from wqc.contract.limits import RESULT_BYTES
from wqc.contract.settings import Lane, Parallelism, QueueSettings
from wqc.runtime.queue.verdict import ItemFailed, Lost, Succeeded, verdict
from wqc.runtime.stores.job import Job

SETTINGS = QueueSettings("work", (Lane("", Parallelism(1, 1)),), retries=1, poison=(65,))
REQUIRED = replace(SETTINGS, result="required")
OPTIONAL = replace(SETTINGS, result="optional")
GOOD = Job(
    job="work-x-1",
    queue="work",
    lane="",
    name="x",
    version="",
    round=0,
    attempt=1,
    failures=0,
    data="1",
    created=0.0,
    phase="succeeded",
    exit_code=0,
    message="",
)
LONGEST = '"' + "x" * (RESULT_BYTES - 2) + '"'


@pytest.mark.parametrize(
    ("settings", "message", "goes_on"),
    [
        (SETTINGS, "whatever", None),
        (SETTINGS, None, None),
        (OPTIONAL, " \n", None),
        (OPTIONAL, "[1]", "[1]"),
        (REQUIRED, "[1]", "[1]"),
        (REQUIRED, LONGEST, LONGEST),
    ],
)
def test_what_goes_on(settings: QueueSettings, message: str | None, goes_on: str | None) -> None:
    assert verdict(replace(GOOD, message=message), settings) == Succeeded(goes_on)


@pytest.mark.parametrize("settings", [REQUIRED, OPTIONAL])
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (LONGEST[:-1] + 'x"', "the result is larger than 4095 bytes"),
        ('"' + "é" * (RESULT_BYTES // 2) + '"', "the result is larger than 4095 bytes"),
        ("hello", "the result is not JSON"),
        ("[1] [2]", "the result is not JSON"),
        ('{"a": NaN}', "the result is not JSON"),
    ],
)
def test_a_result_that_is_none_fails_the_item(settings: QueueSettings, message: str, reason: str) -> None:
    found = verdict(replace(GOOD, message=message), settings)
    assert isinstance(found, ItemFailed)
    assert found.reason.startswith(reason)


def test_a_missing_result_fails_the_item_where_it_is_required() -> None:
    reason = "the worker ended well but wrote no result to WORK_RESULT_FILE"
    assert verdict(replace(GOOD, message=" "), REQUIRED) == ItemFailed(reason, final=False)


@pytest.mark.parametrize("settings", [REQUIRED, OPTIONAL])
def test_a_result_that_nobody_could_read_is_no_result_but_another_attempt(settings: QueueSettings) -> None:
    """Not even where none is required: there may have been one."""
    assert isinstance(verdict(replace(GOOD, message=None), settings), Lost)


@pytest.mark.parametrize(
    ("code", "failures", "final"), [(1, 0, False), (1, 1, True), (65, 0, True), (66, 0, False)]
)
def test_attempts_come_to_an_end_and_poison_has_none(code: int, failures: int, final: bool) -> None:
    job = replace(GOOD, phase="failed", exit_code=code, failures=failures, reason=f"exit code {code}")
    assert verdict(job, SETTINGS) == ItemFailed(f"exit code {code}", final)


def test_what_never_ran_or_lost_its_node_is_nobody_s_failure() -> None:
    assert verdict(replace(GOOD, phase="lost", exit_code=65, reason="its node is gone"), SETTINGS) == Lost(
        "its node is gone"
    )
    assert verdict(replace(GOOD, phase="active"), SETTINGS) is None
    assert verdict(replace(GOOD, phase="active", superseded=True), SETTINGS) == Lost("its node is lost")
