"""When a node counts as lost: by the monotonic clock, whatever the other one says."""

import time
from pathlib import Path

import pytest

from wqc.runtime.queue.book import Book
from wqc.runtime.queue.overdue import LONGEST_GRACE, Overdue
from wqc.runtime.stores.job import Job
from wqc.runtime.stores.local.store import LocalStore

PATIENCE = 300.0


@pytest.mark.parametrize(
    ("ahead", "least", "most"),
    [
        (30.0, PATIENCE + 29, PATIENCE + 30),
        (-7 * 3600.0, PATIENCE - 1, PATIENCE),
        (7 * 3600.0, PATIENCE + LONGEST_GRACE - 1, PATIENCE + LONGEST_GRACE),
    ],
)
def test_a_pod_gets_its_time(tmp_path: Path, ahead: float, least: float, most: float) -> None:
    """`ahead`: how many seconds from now it should be gone, after our clock."""
    overdue = Overdue(Book(), LocalStore(tmp_path, {}, {}), PATIENCE)
    job = Job("j", "q", "", "a", "", 0, 1, 0, "1", created=0.0, overdue=time.time() + ahead)
    overdue.note(b"a", job)
    (due,) = overdue.times()
    assert least <= due - time.monotonic() <= most
