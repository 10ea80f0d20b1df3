"""What is counted of the attempts under way is what a look at each of them would find."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from wqc.runtime.queue.book import Book, Stage
from wqc.runtime.stores.job import Job

KEYS = (b"a", b"b", b"c")
STAGES: tuple[Stage, ...] = ("active", "retry", "handing", "recording", "over")

told = st.builds(
    lambda key, attempt, lane, how, done: Job(
        job=f"work-{key.decode()}-{attempt}",
        queue="work",
        lane=lane,
        name=key.decode(),
        version="",
        round=0,
        attempt=attempt,
        failures=0,
        data="",
        created=0.0,
        phase="failed" if how == "failed" else "active",
        running=how == "running",
        hindrance="no node" if how == "hindered" else "",
        done=done and how == "failed",
    ),
    st.sampled_from(KEYS),
    st.integers(1, 4),
    st.sampled_from(("left", "right")),
    st.sampled_from(("", "running", "hindered", "failed")),
    st.booleans(),
)
changes = st.one_of(
    told,
    st.tuples(st.sampled_from(KEYS), st.sampled_from(STAGES)),
    st.tuples(st.just("gone"), st.sampled_from(KEYS), st.integers(1, 4)),
    st.tuples(st.just("finished"), st.sampled_from(KEYS), st.integers(1, 4)),
)


def change(book: Book, what: Job | tuple[object, ...]) -> None:
    match what:
        case Job():
            book.note(what.name.encode(), what)
        case bytes(key), stage:
            if attempts := book.get(key):
                book.move(attempts, stage)  # type: ignore[arg-type]
        case "gone", bytes(key), attempt:
            book.forget(f"work-{key.decode()}-{attempt}", ())
        case "finished", bytes(key), int(attempt):
            if (attempts := book.get(key)) and (job := attempts.jobs.get(f"work-{key.decode()}-{attempt}")):
                book.finished(replace(job, phase="succeeded", running=False))


@given(st.lists(changes, max_size=40))
def test_counted_as_it_changes(all_changes: list[Job | tuple[object, ...]]) -> None:
    book = Book()
    for each in all_changes:
        change(book, each)
    active = book.at("active")
    for attempts in active:
        assert list(attempts.jobs) == sorted(attempts.jobs)
        assert attempts.latest is attempts.jobs[max(attempts.jobs)]
    by_lane = Counter(attempts.latest.lane for attempts in active)
    assert book.under_way.by_lane() == by_lane
    assert book.under_way.running() == {each.latest.lane for each in active if each.latest.running}
    hindered = [each.key for each in active if each.last_hindered.hindrance]
    assert sorted(each.key for each in book.under_way.hindered()) == sorted(hindered)


@given(st.lists(told, min_size=1, max_size=20))
def test_what_was_in_the_way_of_the_one_before(jobs: list[Job]) -> None:
    """It counts until the latest runs, and what is in the latest's own way counts before it."""
    book = Book()
    for job in jobs:
        attempts = book.note(b"a", replace(job, name="a", job=f"a-{job.attempt}"))
    *earlier, latest = (attempts.jobs[name] for name in sorted(attempts.jobs))
    expected = latest.hindrance or (
        earlier[-1].hindrance if earlier and not latest.running else latest.hindrance
    )
    assert attempts.last_hindered.hindrance == expected
