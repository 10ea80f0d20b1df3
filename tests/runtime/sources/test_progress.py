"""What is committed of a partition, and what a later reader makes of it."""

from hypothesis import given
from hypothesis import strategies as st

from wqc.runtime.sources.progress import LONGEST, Progress, resumed, topic_of

OFFSETS = st.sets(st.integers(0, 5000), max_size=300)


@given(OFFSETS, st.data())
def test_a_later_reader_sees_what_is_not_finished_and_nothing_else(
    offsets: set[int], data: st.DataObject
) -> None:
    first = Progress(0)
    for offset in sorted(offsets):
        first.seen(offset)
    done = data.draw(st.sets(st.sampled_from(sorted(offsets)))) if offsets else set()
    first.unfinished -= done

    for reader in (_after(first), _after(_after(first))):
        again = {offset for offset in offsets if offset >= reader.position and not reader.is_finished(offset)}
        assert again == offsets - done


@given(OFFSETS, st.integers(0, 300))
def test_one_that_was_stopped_early_forgets_nothing(offsets: set[int], read: int) -> None:
    """It has read some of what the one before it had left, and finished all of that."""
    first = Progress(0)
    for offset in sorted(offsets):
        first.seen(offset)
    first.unfinished = {offset for offset in offsets if offset % 3 == 0}
    second = _after(first)
    left = sorted(first.unfinished)
    for offset in sorted(offsets):
        if offset >= second.position and not second.is_finished(offset) and offset in left[:read]:
            second.seen(offset)
    second.unfinished.clear()
    third = _after(second)
    again = {offset for offset in offsets if offset >= third.position and not third.is_finished(offset)}
    assert again == set(left[read:])


def test_metadata_has_an_end() -> None:
    progress = Progress(0)
    for offset in range(0, 10_000_000, 9_973):
        progress.seen(offset)
    low, metadata = progress.commit("x1")
    assert len(metadata) <= LONGEST + 20
    later = resumed(low, metadata)
    assert not any(later.is_finished(offset) for offset in progress.unfinished)


def test_what_others_wrote_is_ignored() -> None:
    for metadata in ("", "hello", "a b c", "wqc1 x", "{}"):
        assert resumed(7, metadata) == Progress(7)


def _after(progress: Progress) -> Progress:
    return resumed(*progress.commit("x1"))


def test_the_topic_that_was_read_is_known() -> None:
    assert topic_of(Progress(3).commit("x1")[1]) == "x1"
    assert topic_of(Progress(3).commit("")[1]) == ""
    assert topic_of("a b c") == ""
