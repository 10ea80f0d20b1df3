"""Where items go is frozen: these vectors never change."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wqc.contract.expression import EvaluationFailed, compile_expression
from wqc.patterns.item import Failed, Item, Sent
from wqc.patterns.sharder import Sharder, canonical_key, ranked

SHARDS = ("a", "b", "c")


def sharder(key: str = "item.data.user", shards: tuple[str, ...] = SHARDS) -> Sharder:
    return Sharder(compile_expression(key), shards)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12, b"12"),
        (12.0, b"12"),
        (-0.0, b"0"),
        (0.1, b"0.1"),
        (1e300, str(int(1e300)).encode()),
        (True, b"true"),
        (None, b"null"),
        ("12", b'"12"'),
        ("\u00e9\ud800", b'"\\u00e9\\ud800"'),
        ([1.0, "x"], b'[1,"x"]'),
        ({"b": 1.0, "a": None}, b'{"a":null,"b":1}'),
        (b"\x00\xff", b'{"base64":"AP8="}'),
    ],
)
def test_canonical_keys(value: object, text: bytes) -> None:
    assert canonical_key(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, {1: 2}, [math.nan]])
def test_what_json_can_not_say_is_no_key(value: object) -> None:
    with pytest.raises(EvaluationFailed):
        canonical_key(value)


@pytest.mark.parametrize(
    ("key", "order"),
    [("1", "cab"), ('"u-17"', "cab"), ("null", "bac"), ('{"a":[1,2]}', "bac")],
)
def test_ranking_vectors(key: str, order: str) -> None:
    assert "".join(ranked(key.encode(), SHARDS)) == order


def test_equal_numbers_go_to_the_same_shard() -> None:
    for number in range(50):
        whole, decimal = (sharder().route(Item("i", data={"user": n})) for n in (number, float(number)))
        assert [s.output for s in whole] == [s.output for s in decimal]  # type: ignore[union-attr]


def test_an_item_without_the_key_fails() -> None:
    assert isinstance(sharder().route(Item("i", data={})), Failed)


@given(st.text(), st.permutations(SHARDS))
def test_the_order_of_declaration_does_not_matter(user: str, shards: list[str]) -> None:
    item = Item("i", data={"user": user})
    assert sharder(shards=tuple(shards)).route(item) == sharder().route(item)


@given(st.text())
def test_taking_a_shard_away_moves_only_its_own_items(user: str) -> None:
    item = Item("i", data={"user": user})
    before, after = sharder().route(item), sharder(shards=("a", "b")).route(item)
    if before != (Sent("c", item),):
        assert before == after


def test_items_spread_evenly() -> None:
    count = Counter(ranked(canonical_key(f"user-{number}"), SHARDS)[0] for number in range(9000))
    assert set(count) == set(SHARDS)
    # 3000 expected; the standard deviation is 45
    assert all(abs(each - 3000) < 5 * 45 for each in count.values())
