"""The set that a long record is kept in is a set, and small."""

import tracemalloc
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from wqc.runtime.queue.hashes import Hashes

# of few different bytes, so that many are in one heap
HASHES = st.text("\x00\x01\x10", min_size=12, max_size=12).map(str.encode)


@given(st.lists(st.tuples(st.booleans(), HASHES), max_size=300))
def test_it_is_what_a_set_of_pythons_is(steps: list[tuple[bool, bytes]]) -> None:
    hashes, reference = Hashes(), set[bytes]()
    for adds, each in steps:
        if adds:
            hashes.add(each)
            reference.add(each)
        else:
            hashes.discard(each)
            reference.discard(each)
        assert (each in hashes) == (each in reference)
        assert len(hashes) == len(reference)
    assert hashes == reference
    assert list(hashes) == sorted(reference)
    assert all((each in hashes) == (each in reference) for _, each in steps)


def test_an_end_and_the_next_beginning_are_no_member() -> None:
    hashes = Hashes([b"#00123456789", b"#0abcdefghij"])
    assert b"#" + b"56789" + b"0abcde" not in hashes
    hashes.discard(b"#" + b"56789" + b"0abcde")
    assert len(hashes) == 2


@given(st.lists(HASHES), st.lists(HASHES))
def test_a_copy_is_another_set(first: list[bytes], then: list[bytes]) -> None:
    hashes = Hashes(first)
    copy = hashes.copy()
    copy.difference_update(first)
    copy.update(then)
    assert hashes == set(first)
    assert copy == set(then)


def test_many_take_less_than_half_of_a_set_of_pythons() -> None:
    def taken(kind: type[Hashes] | type[set[bytes]]) -> int:
        tracemalloc.start()
        found = kind(sha256(str(number).encode()).digest()[:12] for number in range(20_000))
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(found) == 20_000
        return size

    assert taken(Hashes) < taken(set[bytes]) / 2
