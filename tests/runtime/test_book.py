"""What a queue knows of its Jobs, when it is told of them in whatever order."""

from dataclasses import replace

import pytest

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


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("in_turn", [1, -1])
def test_two_versions_of_an_item_have_jobs_of_the_same_number(is_done: bool, in_turn: int) -> None:
    """As after `rework` was `on_change`: none is overlooked, and what isn't done says how the item is."""
    older = replace(OVER, job="work-old-1", version="old", content="here", done=is_done)
    newer = replace(ACTIVE, job="work-new-1", version="new", created=1.0, content="here")
    book = Book()
    for job in (older, newer)[::in_turn]:
        attempts = book.note(b"x", job)
    assert attempts.latest == newer
    assert [attempts.next_attempt(round) for round in (0, 1)] == [2, 1]
    assert [job.job for job in book.to_finish()] == ([] if is_done else [older.job])
    book.note(b"x", replace(newer, phase="succeeded", finished=2.0))
    book.move(attempts, "finishing")
    for job in list(book.to_finish()):
        book.finished(job)
    assert not list(book.to_finish())
    assert [job.done for job in attempts.jobs.values()] == [True, True]
    for name in (older.job, newer.job):
        assert b"x" in book
        book.forget(name, ())
    assert b"x" not in book


def test_an_older_version_s_attempt_that_isn_t_done_counts() -> None:
    done = replace(OVER, job="work-new-1", version="new", created=1.0, done=True)
    assert told(done, replace(ACTIVE, job="work-old-1", version="old")).version == "old"


@pytest.mark.parametrize("is_followed", [False, True])
def test_an_item_whose_job_was_deleted_goes_when_it_is_recorded(is_followed: bool) -> None:
    book = Book()
    attempts = book.note(b"x", replace(ACTIVE, content="here"))
    assert book.forget("work-x-1", ()) == b"x"
    assert (attempts.latest.phase, book.job_names()) == ("lost", [])
    if is_followed:
        book.note(b"x", replace(OVER, job="work-x-2", attempt=2, content="here"))
    book.move(attempts, "finishing")
    for job in list(book.to_finish()):
        book.finished(job)
    assert not list(book.to_finish())
    assert (b"x" in book, book.done_jobs) == (is_followed, int(is_followed))
    book.forget("work-x-2", ())
    assert (b"x" in book, book.done_jobs) == (False, 0)


def test_what_another_manager_began_with_an_item_that_was_over() -> None:
    book = Book()
    attempts = book.note(b"x", replace(OVER, done=True))
    book.move(attempts, "over")
    book.note(b"x", replace(ACTIVE, job="work-x-2", attempt=2))
    assert book.at("active") == [attempts]
