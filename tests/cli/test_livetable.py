"""What the table of a workflow prints: figures, and one printable line for each thing that others said."""

from dataclasses import replace

import pytest

from wqc.cli.livetable import duration, failures, table
from wqc.runtime.manager.status import (
    CarrierStatus,
    Failure,
    NodeStatus,
    QueueStatus,
    SourceStatus,
    Status,
    Trouble,
    troubled,
)

THUMBS = QueueStatus(
    "thumbs",
    waiting=12,
    running=3,
    parallelism=8,
    done=140,
    failed=1,
    held=1,
    handing=0,
    oldest=12.5,
    arrival_interval=None,
    slot_time=None,
    rate=4 / 60,
    blocked="",
    knows=True,
    failures=(),
)


def test_a_row_says_how_fast_it_goes_and_how_long_it_takes_yet() -> None:
    fast = replace(THUMBS, queue="fast", waiting=30_000, running=0, rate=2.5)
    carrier = CarrierStatus("out", waiting=2, done=7, rate=0.5, blocked="", knows=True)
    status = Status((), (THUMBS, fast), (), idle=False, carriers=(carrier,))
    assert table(status) == [
        "queue   waiting  running  done  failed      rate  time left",
        "thumbs       12        3   140       1   4.0/min     3m 45s",
        "fast      30000        0   140       1     2.5/s     3h 20m",
        "out           2              7          30.0/min",
    ]


def test_time_left_is_for_what_waits_and_what_runs() -> None:
    assert replace(THUMBS, rate=0.25).seconds_left == 60.0
    # there is no telling
    assert replace(THUMBS, rate=0.0).seconds_left is None
    assert replace(THUMBS, waiting=0, running=0).seconds_left is None
    assert table(Status((), (replace(THUMBS, rate=0.0),), (), idle=False))[1].endswith("0.0/min")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0s"), (59.4, "59s"), (59.6, "1m 00s"), (3599.6, "1h 00m"), (90_000, "25h 00m")],
)
def test_a_duration_in_words(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_what_others_say_stays_in_its_line() -> None:
    said = "evil \x1b[31m reason\nline2\u202e"
    status = Status(
        (SourceStatus("names", said, up=False),), (), (NodeStatus("node", 1, said, ()),), idle=False
    )
    lines = table(status)[1:]
    assert lines == [
        r"names: evil \x1b[31m reason\nline2\u202e",
        r"node: evil \x1b[31m reason\nline2\u202e",
    ]


def test_of_many_that_failed_it_is_said_how_many_are_not_shown() -> None:
    held = replace(THUMBS, failed=13, held=12, failures=(Failure("a.mp4", "exit code 1", "job", ""),))
    node = NodeStatus("large", 2, "", (Failure("b.mp4", "no such key", "", ""),))
    assert failures(Status((), (held,), (node,), idle=False), {"job": ["no moov\x07"]}) == [
        "thumbs: a.mp4 failed: exit code 1",
        "    no moov\\x07",
        "large: b.mp4 failed: no such key",
        "thumbs: 11 more failed before these",
        "large: 1 more failed before these",
    ]


@pytest.mark.parametrize(("count", "more"), [(1, ""), (2, "; 1 more does"), (12, "; 11 more do")])
def test_what_waits_for_another_attempt_is_told_from_what_had_none(count: int, more: str) -> None:
    found = troubled([Trouble(f"{number}\n.mp4", "exit code 1") for number in range(count)])
    shown = table(Status((), (replace(THUMBS, retrying=found),), (), idle=False))
    assert shown[2:] == [f"thumbs: 0\\n.mp4 waits for another attempt: exit code 1{more}"]


def test_a_source_that_waits_for_a_file_to_be_complete_says_so() -> None:
    status = Status(
        (SourceStatus("films", "", settling=True), SourceStatus("stills", "")), (), (), idle=False
    )
    assert table(status)[1:] == ["films: has more that isn't complete yet"]
