"""What each node does with an item, as examples and as laws over any items."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wqc.contract.expression import compile_expression
from wqc.patterns.copier import Copier
from wqc.patterns.filter import Filter
from wqc.patterns.item import Failed, Item, Sent
from wqc.patterns.merger import Merger, interleave
from wqc.patterns.splitter import Splitter

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ITEMS = st.builds(
    Item,
    st.text(min_size=1),
    st.text(),
    st.fixed_dictionaries({}, optional={"n": st.integers(-9, 9) | st.text() | st.none(), "other": JSON})
    | JSON,
)


def film(**data: Any) -> Item:
    return Item("a.mp4", "1", data)


def test_copier_sends_the_item_as_it_is() -> None:
    assert Copier().route(film(size=1)) == (Sent("", film(size=1)),)


def test_filter_keeps_rejects_and_fails() -> None:
    large = Filter(compile_expression("item.data.size > 10"))
    assert large.route(film(size=11)) == (Sent("", film(size=11)),)
    assert large.route(film(size=10)) == ()
    assert isinstance(large.route(film()), Failed)


def test_filter_fails_an_item_on_which_the_condition_gives_no_boolean() -> None:
    verdict = Filter(compile_expression("item.data.size")).route(film(size=3))
    assert verdict == Failed("where: `item.data.size` gives neither true nor false, but int")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a\0b", {}),
        ("a", {"size": "x\0y"}),
        ("a", {"x\0y": 1}),
        ("a", {"deep": [{"down": "\ud800"}]}),
    ],
)
def test_a_text_that_conditions_would_see_only_the_beginning_of_fails_its_item(
    name: str, data: dict[str, Any]
) -> None:
    verdict = Filter(compile_expression("item.name == 'a' || item.data.size == 'x'")).route(
        Item(name, "", data)
    )
    assert verdict == Failed("where: it has a text that no condition can read: NUL, or half a character")


def splitter(drop: bool = False) -> Splitter:
    texts = (("email", "item.data.email"), ("sms", "item.data.sms"))
    return Splitter(tuple((case, compile_expression(text)) for case, text in texts), drop)


def test_splitter_sends_to_every_case_that_holds() -> None:
    both = film(email=True, sms=True)
    assert splitter().route(both) == (Sent("email", both), Sent("sms", both))


def test_splitter_without_a_case_sends_otherwise_or_drops() -> None:
    neither = film(email=False, sms=False)
    assert splitter().route(neither) == (Sent("otherwise", neither),)
    assert splitter(drop=True).route(neither) == ()


def test_splitter_that_can_not_evaluate_one_case_sends_to_none() -> None:
    verdict = splitter().route(film(email=True))
    assert isinstance(verdict, Failed)
    assert verdict.reason.startswith("sms: ")


def test_merger_prefixes_names_so_that_inputs_never_share_an_item() -> None:
    assert Merger("api").route(Item("1", "v", 2)) == (Sent("", Item("api:1", "v", 2)),)


@given(ITEMS)
def test_conditions_give_a_verdict_on_anything(item: Item) -> None:
    for node in (
        Filter(compile_expression("item.data.n > 0")),
        Splitter((("up", compile_expression("item.data.n > 0")),), drop=False),
    ):
        verdict = node.route(item)
        assert isinstance(verdict, Failed) or all(sent.item is item for sent in verdict)


@given(ITEMS)
def test_filter_and_its_negation_share_out_every_item(item: Item) -> None:
    kept = Filter(compile_expression("item.data.n > 0")).route(item)
    rejected = Filter(compile_expression("!(item.data.n > 0)")).route(item)
    if isinstance(kept, Failed):
        assert isinstance(rejected, Failed)
    else:
        assert not isinstance(rejected, Failed)
        assert len(kept) + len(rejected) == 1


@given(st.lists(st.lists(st.integers())))
def test_interleaving_loses_nothing_and_keeps_each_streams_order(streams: list[list[int]]) -> None:
    tagged = [[(index, value) for value in stream] for index, stream in enumerate(streams)]
    merged = list(interleave(tagged))
    assert Counter(merged) == Counter(entry for stream in tagged for entry in stream)
    for index, stream in enumerate(tagged):
        assert [entry for entry in merged if entry[0] == index] == stream


@given(st.lists(st.lists(st.integers(), min_size=1), min_size=1))
def test_interleaving_lets_every_stream_progress(streams: list[list[int]]) -> None:
    tagged = [[(index, value) for value in stream] for index, stream in enumerate(streams)]
    first = list(interleave(tagged))[: len(streams)]
    assert [index for index, _ in first] == list(range(len(streams)))


@pytest.mark.parametrize(("levels", "failed"), [(600, False), (2000, True), (200_000, True)])
def test_data_that_is_nested_very_deeply_fails_its_item_at_most(levels: int, failed: bool) -> None:
    data: list[Any] = []
    for _ in range(levels):
        data = [data]
    condition = Filter(compile_expression("size(item.data) == 1"))
    assert isinstance(condition.route(Item("deep", "", data)), Failed) == failed
