"""Sources that hold an item until they are told: custody through ambassadors and pattern nodes."""

import asyncio

import pytest

from support.served import served
from wqc.contract.expression import compile_expression
from wqc.patterns.copier import Copier
from wqc.patterns.filter import Filter
from wqc.patterns.splitter import Splitter
from wqc.runtime.ambassador.patterns import MergedSource, Node, Output
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.patient import patient
from wqc.runtime.sources.source import HoldingSource, Listing, NoSuchItem, SourceError


class Held:
    """As a broker does: lists what nobody has taken over yet."""

    def __init__(self, **items: str) -> None:
        self.items = items

    async def list(self) -> Listing:
        return Listing(dict.fromkeys(self.items, ""), wants_done=True)

    async def get(self, name: str) -> str:
        if name not in self.items:
            raise NoSuchItem(f"there is no item {name}")
        return self.items[name]

    async def done(self, name: str) -> None:
        self.items.pop(name, None)

    async def close(self) -> None:
        pass


def test_over_http() -> None:
    async def ask() -> None:
        held = Held(a="1", b="2")
        async with served({"": patient(held, 5)}) as url:
            source = HttpSource(url, 5)
            assert isinstance(source, HoldingSource)
            assert await source.list() == Listing({"a": "", "b": ""}, wants_done=True)
            for _ in range(2):
                await source.done("a")
            assert await source.list() == Listing({"b": ""}, wants_done=True)

    asyncio.run(ask())


def test_a_source_that_holds_nothing_refuses_it() -> None:
    async def ask() -> None:
        from wqc.runtime.sources.items import ItemsSource

        async with served({"": ItemsSource(["a"])}) as url:
            source = HttpSource(url, 5)
            assert not (await source.list()).wants_done
            with pytest.raises(SourceError, match="answers 405: this source needs no word"):
                await source.done("a")

    asyncio.run(ask())


def test_a_copier_waits_for_all_its_readers() -> None:
    async def ask() -> None:
        held = Held(a="1", b="2")
        node = Node(held, Copier(), ("one", "two"))
        one, two = Output(node, "one"), Output(node, "two")
        assert (await one.list()).wants_done
        assert list((await two.list()).versions) == ["a", "b"]
        await one.done("a")
        await one.done("a")
        assert "a" in held.items
        await two.done("a")
        assert "a" not in held.items

    asyncio.run(ask())


def test_what_a_filter_rejects_is_let_go() -> None:
    async def ask() -> None:
        held = Held(a="1", b="2", c='"text"')
        node = Node(held, Filter(compile_expression("item.data > 1")))
        passed, failed = Output(node), Output(node, "failed")
        assert list((await passed.list()).versions) == ["b"]
        assert list((await failed.list()).versions) == ["c"]
        assert set(held.items) == {"b", "c"}
        await failed.done("c")
        await passed.done("b")
        assert not held.items

    asyncio.run(ask())


def test_a_splitter_waits_for_the_cases_that_hold() -> None:
    async def ask() -> None:
        held = Held(both="2", one="1")
        cases = tuple(
            (name, compile_expression(text)) for name, text in (("x", "true"), ("y", "item.data > 1"))
        )
        node = Node(held, Splitter(cases, drop=True))
        x, y = Output(node, "x"), Output(node, "y")
        await x.list()
        await x.done("one")
        await x.done("both")
        assert set(held.items) == {"both"}
        await y.done("both")
        assert not held.items

    asyncio.run(ask())


def test_a_merger_tells_the_input_that_it_came_from() -> None:
    async def ask() -> None:
        left, right = Held(a="1"), Held(a="2")
        merged = MergedSource({"l": left, "r": right})
        assert (await merged.list()).wants_done
        await merged.done("r:a")
        assert (set(left.items), set(right.items)) == ({"a"}, set())

    asyncio.run(ask())


class Poisoned(Held):
    async def list(self) -> Listing:
        failed = {name: "it isn't JSON" for name in self.items if name.startswith("bad")}
        versions = dict.fromkeys(self.items, "")
        return Listing(versions, wants_done=True, failed=failed, notice="lost 3", left_out=3)


def test_what_failed_in_the_source_and_what_it_says_go_over_http() -> None:
    async def ask() -> None:
        async with served({"": Poisoned(a="1", bad='{"reason":"no"}')}) as url:
            source = HttpSource(url, 5)
            listing = await source.list()
            assert listing.failed == {"bad": "it isn't JSON"}
            assert (listing.notice, listing.left_out) == ("lost 3", 3)
            assert await source.list() is listing

    asyncio.run(ask())


def test_what_failed_before_a_pattern_node_is_at_its_failed_output() -> None:
    async def ask() -> None:
        held = Poisoned(a="1", bad='{"reason":"no"}')
        node = Node(held, Filter(compile_expression("item.data > 0")))
        outputs = {"": Output(node), "failed": Output(node, "failed")}
        async with served(outputs) as url:
            kept, failed = HttpSource(url, 5), HttpSource(f"{url}/failed", 5)
            assert list((await kept.list()).versions) == ["a"]
            listing = await failed.list()
            assert (listing.versions, listing.failed) == ({"bad": ""}, {})
            assert await failed.get("bad") == '{"reason":"no"}'
            with pytest.raises(SourceError):
                await kept.get("bad")
            await failed.done("bad")
            assert list(held.items) == ["a"]

    asyncio.run(ask())


def test_a_copier_passes_on_what_failed_and_a_merger_names_it() -> None:
    async def ask() -> None:
        node = Node(Poisoned(bad="0"), Copier(), ("x", "y"))
        copy = Output(node, "x")
        assert (await copy.list()).failed == {"bad": "it isn't JSON"}
        assert await copy.get("bad") == "0"
        merged = await MergedSource({"left": copy, "right": Held(a="1")}).list()
        assert merged.failed == {"left:bad": "it isn't JSON"}
        assert (merged.notice, merged.left_out) == ("left: lost 3", 3)

    asyncio.run(ask())


def test_after_a_restart_a_copier_still_waits_for_all_its_readers() -> None:
    async def ask() -> None:
        held = Held(a="1")
        await Node(held, Copier(), ("one", "two")).list("one")
        again = Node(held, Copier(), ("one", "two"))
        await again.done("one", "a")
        assert "a" in held.items
        await again.done("two", "a")
        assert "a" not in held.items

    asyncio.run(ask())


class Partly(Held):
    """Some items can't be read for now."""

    unreadable: tuple[str, ...] = ()

    async def get(self, name: str) -> str:
        if name in self.unreadable:
            raise SourceError(f"{name} answers 500")
        return await super().get(name)


def test_an_item_that_cannot_be_read_holds_up_no_others() -> None:
    async def ask() -> None:
        held = Partly(a="1", b="no JSON", c="3", d="4")
        held.unreadable = ("c",)
        filter = Node(held, Filter(compile_expression("item.data > 1")))
        assert list((await filter.list("")).versions) == ["d"]
        with pytest.raises(SourceError, match="isn't known yet where it goes"):
            await filter.done("", "c")
        held.unreadable = ()
        assert list((await filter.list("")).versions) == ["c", "d"]

    asyncio.run(ask())


def test_a_source_of_which_nothing_can_be_read_fails() -> None:
    async def ask() -> None:
        held = Partly(a="1", b="2")
        held.unreadable = ("a", "b")
        with pytest.raises(SourceError, match="a answers 500"):
            await Node(held, Filter(compile_expression("true"))).list("")

    asyncio.run(ask())
