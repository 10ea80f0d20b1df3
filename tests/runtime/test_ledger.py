"""The ledger: its format is frozen, what is in it survives any crash, and it stays small."""

import asyncio
import contextlib
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wqc.contract.limits import LARGE_ITEM_BYTES
from wqc.contract.names import item_hash
from wqc.runtime.queue.ledger import (
    AT_MOST,
    FLUSH_ITEMS,
    DamagedLedger,
    Ledger,
    mergeable,
    read_segment,
    write_segment,
)
from wqc.runtime.stores.store import Kind, Refused, Segment


class Segments:
    """The part of a store that a ledger uses; `crash_after` writes it refuses everything."""

    def __init__(self, crash_after: int | None = None) -> None:
        self.kept: dict[str, Segment] = {}
        self.writes = 0
        self.crash_after = crash_after

    async def segments(self, queue: str, kind: Kind = "ledger") -> tuple[Segment, ...]:
        return tuple(self.kept.values())

    async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
        self._write()
        self.kept.setdefault(segment.name, segment)

    async def remove_segment(self, queue: str, name: str, kind: Kind = "ledger") -> None:
        self._write()
        self.kept.pop(name, None)

    def _write(self) -> None:
        self.writes += 1
        if self.crash_after is not None and self.writes > self.crash_after:
            raise Refused("gone")


def ledger(store: Segments) -> Ledger:
    lasting: Any = store
    return Ledger("work", "demo-work", lasting, flush_after=30.0)


def key(number: int) -> bytes:
    return sha256(str(number).encode()).digest()[:12]


def test_format_and_name_of_a_segment() -> None:
    segment = write_segment(
        "demo-work", [item_hash("b", ""), item_hash("a", "1"), item_hash("b", "")], level=0
    )
    assert segment.name == "demo-work-ledger-q3jwqhctexeu6nin"
    assert segment.content.hex() == "7771636c01000f620be5d4306c841eb67a717a4a582d6c22615effac7ac3"
    assert read_segment(segment) == (0, sorted([item_hash("a", "1"), item_hash("b", "")]))


@pytest.mark.parametrize("content", [b"", b"wqcl\x01", b"wqcl\x02\x00", b"wqcl\x01\x00short", b"other"])
def test_anything_else_is_refused(content: bytes) -> None:
    with pytest.raises(DamagedLedger):
        read_segment(Segment("x", content))


def test_more_than_a_segment_can_hold_becomes_several() -> None:
    async def record() -> None:
        store = Segments()
        book = ledger(store)
        for number in range(AT_MOST + 1):
            book.add(key(number), now=0.0)
        await book.flush()
        assert sorted(len(each.content) for each in store.kept.values()) == [6 + 12, 6 + 12 * AT_MOST]
        assert 6 + 12 * AT_MOST <= LARGE_ITEM_BYTES
        assert len(book) == len(book.recorded) == AT_MOST + 1

    asyncio.run(record())


def test_what_waits_is_written_when_it_is_due_or_there_is_enough() -> None:
    book = ledger(Segments())
    assert book.due() is None
    book.add(key(1), now=100.0)
    book.add(key(2), now=120.0)
    assert book.due() == 130.0
    for number in range(FLUSH_ITEMS):
        book.add(key(number), now=125.0)
    assert book.due() == 100.0
    assert key(1) not in book
    asyncio.run(book.flush())
    assert key(1) in book
    assert book.due() is None


def test_what_comes_while_it_is_written_waits_for_others_again() -> None:
    """Else each write would bring the few that came during the one before, and never end."""

    class Slow(Segments):
        async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
            await super().add_segment(queue, segment, kind)
            book.add(key(self.writes), now=50.0)

    store = Slow()
    book = ledger(store)
    book.add(key(0), now=1.0)
    asyncio.run(book.flush())
    assert store.writes == 1
    assert key(0) in book
    assert book.will_have(key(1))
    assert book.due() == 80.0


def test_a_refused_flush_forgets_nothing() -> None:
    store = Segments(crash_after=0)
    book = ledger(store)
    book.add(key(1), now=1.0)
    with pytest.raises(Refused):
        asyncio.run(book.flush())
    assert key(1) not in book
    assert book.due() == 31.0
    store.crash_after = None
    asyncio.run(book.flush())
    assert key(1) in book


def test_a_hundred_thousand_items_are_a_few_segments() -> None:
    async def scenario() -> None:
        store = Segments()
        book = ledger(store)
        for start in range(0, 100_000, FLUSH_ITEMS):
            for number in range(start, start + FLUSH_ITEMS):
                book.add(key(number), now=0.0)
            await book.flush()
        assert len(store.kept) < 32
        assert max(len(segment.content) for segment in store.kept.values()) < 900 * 1024
        again = ledger(store)
        await again.load()
        assert len(again) == 100_000
        assert all(key(number) in again for number in range(100_000))

    asyncio.run(scenario())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 60))
def test_a_crash_at_any_write_loses_nothing_that_was_recorded(crash_after: int) -> None:
    async def scenario() -> None:
        store = Segments(crash_after)
        book = ledger(store)
        recorded: set[bytes] = set()
        try:
            for number in range(40):
                book.add(key(number), now=0.0)
                await book.flush()
                recorded.add(key(number))
        except Refused:
            pass
        store.crash_after = None
        again = ledger(store)
        await again.load()
        assert all(each in again for each in recorded)
        again.add(key(99), now=0.0)
        await again.flush()
        assert not mergeable(list(store.kept.values()))

    asyncio.run(scenario())


@pytest.mark.parametrize("crash_after", range(8))
def test_a_crash_while_it_forgets_loses_nothing_else(crash_after: int) -> None:
    async def scenario() -> None:
        store = Segments()
        book = ledger(store)
        for start in (0, 10, 20):
            for number in range(start, start + 10):
                book.add(key(number), now=0.0)
            await book.flush()
        # one segment untouched, one in part, one whole
        old = {key(number) for number in (5, *range(10, 20))}
        store.writes, store.crash_after = 0, crash_after
        try:
            await book.forget(old)
            assert crash_after >= 3
        except Refused:
            assert crash_after < 3
        store.crash_after = None
        again = ledger(store)
        await again.load()
        assert {key(number) for number in range(30)} - old <= again.recorded
        await again.forget(old)
        assert again.recorded == {key(number) for number in range(30)} - old
        last = ledger(store)
        await last.load()
        assert last.recorded == again.recorded
        assert len(store.kept) == 2

    asyncio.run(scenario())


def test_what_was_refused_and_done_all_the_same_is_recorded_once() -> None:
    class Deaf(Segments):
        """Does what it is told, and then says that it didn't."""

        refusals = 2

        async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
            await super().add_segment(queue, segment)
            if self.refusals:
                self.refusals -= 1
                raise Refused("busy")

    async def scenario() -> None:
        store = Deaf()
        kept = ledger(store)
        for number in range(6):
            kept.add(key(number), 0.0)
            with contextlib.suppress(Refused):
                await kept.flush()
        found = [each for segment in store.kept.values() for each in read_segment(segment)[1]]
        assert sorted(found) == sorted(key(number) for number in range(6))
        assert len(kept) == 6

    asyncio.run(scenario())
