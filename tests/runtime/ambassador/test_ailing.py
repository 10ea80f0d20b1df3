"""A pattern node in front of a source some of whose items, or answers, aren't well."""

import asyncio
from contextlib import suppress

from support.sources import Holding
from wqc.contract.expression import compile_expression
from wqc.patterns.copier import Copier
from wqc.patterns.filter import Filter
from wqc.runtime.ambassador.patterns import Node
from wqc.runtime.sources.source import SourceError

POSITIVE = Filter(compile_expression("item.data > 0", (), ()))


class Ailing(Holding):
    """Doesn't give what is `locked`, and doesn't hear the first `deaf` times that something is done."""

    locked: tuple[str, ...] = ()
    deaf = 0

    async def get(self, name: str) -> str:
        if name in self.locked:
            raise SourceError("it is locked")
        return await super().get(name)

    async def done(self, name: str) -> None:
        if self.deaf:
            self.deaf -= 1
            raise SourceError("the broker is away")
        await super().done(name)
        await asyncio.sleep(0.1)  # its answer takes a while


def test_what_can_not_be_read_keeps_nothing_else_from_being_listed() -> None:
    async def scenario() -> None:
        source = Ailing({"a": 1, "b": 2, "c": 3})
        source.locked = ("b", "c")
        node = Node(source, POSITIVE)
        assert [*(await node.list("")).versions] == ["a"]
        source.data["d"] = 4
        assert [*(await node.list("")).versions] == ["a", "d"]
        assert [*(await node.list("")).versions] == ["a", "d"]
        source.locked = ()
        assert [*(await node.list("")).versions] == ["a", "b", "c", "d"]

    asyncio.run(scenario())


def test_what_nobody_gets_is_told_until_the_source_hears_it() -> None:
    async def scenario() -> None:
        source = Ailing({"rejected": 0})
        source.deaf = 1
        node = Node(source, POSITIVE)
        for _ in range(3):
            with suppress(SourceError):
                await node.list("")
        assert source.told == ["rejected"]

    asyncio.run(scenario())


def test_a_listing_comes_before_the_source_s_answer() -> None:
    async def scenario() -> None:
        source = Ailing({"a": 1})
        node = Node(source, Copier(), ("x", "y"))
        await node.list("x")
        await node.done("x", "a")
        done = asyncio.create_task(node.done("y", "a"))
        await asyncio.sleep(0.02)
        assert not (await node.list("x")).versions
        await done

    asyncio.run(scenario())
