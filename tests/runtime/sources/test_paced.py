"""Listings are no oftener than is good for what is behind the source."""

import asyncio
import time

import pytest

from wqc.runtime.sources.paced import QUICK, PacedSource
from wqc.runtime.sources.patient import patient
from wqc.runtime.sources.source import Listing, SourceError


class Counted:
    """Each listing has one item, called after its number."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.count = 0
        self.fails = False

    async def list(self) -> Listing:
        await asyncio.sleep(self.seconds)
        self.count += 1
        if self.fails:
            raise SourceError("not now")
        return Listing({str(self.count): ""})

    async def get(self, name: str) -> str:
        return name

    async def close(self) -> None:
        pass


def test_quick_listings_are_no_burden() -> None:
    async def ask() -> None:
        source = PacedSource(Counted(), every=0.0, rest=1000.0)
        assert [list((await source.list()).versions) for _ in range(3)] == [["1"], ["2"], ["3"]]

    asyncio.run(ask())


def test_after_a_long_one_there_is_a_rest() -> None:
    async def ask() -> None:
        behind = Counted(QUICK)
        source = PacedSource(behind, every=0.0, rest=1.0)
        first = await source.list()
        assert await source.list() is first
        assert behind.count == 1
        await asyncio.sleep(QUICK * 1.5)
        assert list((await source.list()).versions) == ["2"]

    asyncio.run(ask())


def test_not_oftener_than_is_allowed() -> None:
    async def ask() -> None:
        source = PacedSource(Counted(), every=0.3, rest=0.0)
        started = time.monotonic()
        seen = set()
        while time.monotonic() - started < 1.0:
            seen.update((await source.list()).versions)
            await asyncio.sleep(0.01)
        assert len(seen) <= 4

    asyncio.run(ask())


def test_long_listings_with_rests_are_never_said_to_be_late() -> None:
    async def ask() -> None:
        source = patient(PacedSource(Counted(QUICK), every=0.0, rest=0.5), patience=QUICK / 2)
        seen: set[str] = set()
        started = time.monotonic()
        while len(seen) < 4:
            try:
                seen.update((await source.list()).versions)
            except SourceError:
                assert not seen  # only the very first has nothing to stand for it
            await asyncio.sleep(0.05)
            assert time.monotonic() - started < 30

    asyncio.run(ask())


def test_a_failure_is_no_listing() -> None:
    async def ask() -> None:
        behind = Counted()
        source = PacedSource(behind, every=0.2, rest=0.0)
        await source.list()
        await asyncio.sleep(0.25)
        behind.fails = True
        for _ in range(2):
            with pytest.raises(SourceError):
                await source.list()
        behind.fails = False
        assert list((await source.list()).versions) == ["4"]

    asyncio.run(ask())
