"""The mapping that a long listing is kept in is a mapping, keeps the source's order, and is small."""

import tracemalloc
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wqc.runtime.sources import versions
from wqc.runtime.sources.versions import Versions, fresh, gone

# of few different characters, so that names are parts of each other
TEXTS = st.text("a\x00\n\xff\xfe\udcff\ud800é", max_size=4) | st.text(st.characters(codec=None), max_size=4)
ENTRIES = st.lists(st.tuples(TEXTS, TEXTS), max_size=40)
MANY = pytest.mark.parametrize("heaps", [8192], indirect=True)


@pytest.fixture(autouse=True, params=[1, 8192])
def heaps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "HEAPS", request.param)


def first_of_each(entries: list[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, version in entries:
        found.setdefault(name, version)
    return found


@given(ENTRIES, TEXTS)
def test_it_is_what_a_dict_is(entries: list[tuple[str, str]], other: str) -> None:
    found, reference = Versions(), dict[str, str]()
    for name, version in entries:
        assert found.add(name, version) == (name not in reference)
        reference.setdefault(name, version)
    assert list(found.items()) == list(reference.items())
    assert list(found) == list(reference)
    assert list(found.values()) == list(reference.values())
    assert len(found) == len(reference)
    assert found == reference
    for name in [*reference, other]:
        assert (name in found) == (name in reference)
        assert found.get(name) == reference.get(name)


@given(ENTRIES, st.randoms(use_true_random=False))
def test_the_order_makes_no_difference(entries: list[tuple[str, str]], random: Random) -> None:
    found = first_of_each(entries)
    shuffled = list(found.items())
    random.shuffle(shuffled)
    assert Versions(shuffled) == Versions(found.items())


@given(ENTRIES, ENTRIES)
def test_two_are_compared_as_dicts_are(first: list[tuple[str, str]], then: list[tuple[str, str]]) -> None:
    before, now = first_of_each(first), first_of_each(then)
    shared = first_of_each([*then[: len(then) // 2], *first])
    for one, two in ((before, now), (before, shared), (shared, now), (now, now)):
        new = [entry for entry in two.items() if one.get(entry[0]) != entry[1]]
        left = one.keys() - two.keys()
        for kind in (Versions, dict[str, str]):
            for other in (Versions, dict[str, str]):
                old_listing, new_listing = kind(one.items()), other(two.items())
                assert list(fresh(old_listing, new_listing)) == new
                assert sorted(gone(old_listing, new_listing)) == sorted(left)
                assert (old_listing == new_listing) == (one == two)


def test_what_is_no_mapping_is_something_else() -> None:
    assert Versions() != []
    with pytest.raises(KeyError, match="'a'"):
        Versions()["a"]


def numbered(count: int) -> list[tuple[str, str]]:
    return [(f"item {number:07}", "") for number in range(count)]


@MANY
def test_a_long_listing_that_changes_is_compared_right() -> None:
    entries = numbered(50_000)
    before = Versions(entries)
    entries[40_000] = ("item 0040000", "2")
    entries[7] = ("between", "")
    entries[3], entries[4] = entries[4], entries[3]
    now = Versions(entries)
    assert list(fresh(before, now)) == [("between", ""), ("item 0040000", "2")]
    assert list(gone(before, now)) == ["item 0000007"]
    assert before != now


def most(make: Callable[[], object]) -> int:
    """Bytes that are in use meanwhile."""
    tracemalloc.start()
    kept = make()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept is not None
    return peak


@MANY
def test_many_take_less_than_half_of_a_dict_and_comparing_them_next_to_nothing() -> None:
    count = 100_000
    compact = most(lambda: Versions((f"item {number:07}", "") for number in range(count)))
    assert compact < most(lambda: {f"item {number:07}": "" for number in range(count)}) / 2
    before, now = Versions(numbered(count)), Versions(numbered(count + 1))

    def compared() -> list[str]:
        assert before != now
        return [*gone(before, now), *gone(now, before)]

    assert most(compared) < compact / 2
