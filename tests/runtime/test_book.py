"""What a queue knows of its Jobs, when it is told of them in whatever order."""

from dataclasses import replace

from wqc.runtime.queue.book import Book
from wqc.runtime.stores.job import Job

ACTIVE = Job(
    job="work-x-1",
    queue="work",
    lane="",
    name="x",
    version="",
    round=0,
    attempt=1,
    failures=0,
    data="",
    created=0.0,
    content="absent",
)
OVER = replace(ACTIVE, phase="succeeded", exit_code=0, message="[1]", finished=1.0)


def told(*jobs: Job) -> Job:
    book = Book()
    for job in jobs:
        book.note(b"x", job)
    found = book.get(b"x")
    assert found
    return found.latest


def test_a_job_that_is_over_never_runs_again() -> None:
    """As when its item was completed meanwhile, and what that answers is of an older state."""
    completed = replace(ACTIVE, content="apart")
    assert told(ACTIVE, OVER, completed) == replace(OVER, content="apart")
    assert told(OVER, completed, OVER) == replace(OVER, content="apart")


def test_data_that_was_there_stays() -> None:
    assert told(replace(ACTIVE, content="apart"), OVER) == replace(OVER, content="apart")
    assert told(replace(ACTIVE, content="apart"), ACTIVE).content == "apart"


def test_what_is_newer_counts() -> None:
    small = replace(ACTIVE, content="here", data="1")
    hindered = replace(small, hindrance="no node")
    over = replace(OVER, content="here", data="1")
    assert told(small, hindered) == hindered
    assert told(hindered, over, replace(over, done=True), over).done
