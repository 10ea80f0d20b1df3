"""A source as an ambassador opens it from its settings, and as the manager uses it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from wqc.contract.settings import SourceSettings
from wqc.runtime.periods import Periods
from wqc.runtime.sources.opening import open_source
from wqc.runtime.sources.source import HoldingSource, Listing, SourceError

QUICK = Periods(retry_listing=0.05, refused_limit=0.2, request=10.0)


@asynccontextmanager
async def opened(
    kind: str, periods: Periods = QUICK, workflow: str = "w", name: str = "words", **options: Any
) -> AsyncIterator[HoldingSource]:
    source = open_source(SourceSettings(name, kind, options, workflow=workflow), "", periods)
    assert isinstance(source, HoldingSource)
    try:
        yield source
    finally:
        await source.close()


async def listed(
    source: HoldingSource,
    holds: Callable[[Listing], object] = lambda listing: listing.versions,
    timeout: float = 180.0,
) -> Listing:
    """The first listing of which that holds, whatever is in its way before."""
    until = time.monotonic() + timeout
    while True:
        try:
            listing = await source.list()
            if holds(listing):
                return listing
            said = f"{len(listing.versions)} items; {listing.notice}"
        except SourceError as error:
            said = str(error)
        assert time.monotonic() < until, said
        await asyncio.sleep(0.02)


async def refusal(source: HoldingSource, wanted: str = "", timeout: float = 30.0) -> str:
    """What it says once it can't be listed; what is wanted, if anything is."""
    until = time.monotonic() + timeout
    while True:
        try:
            await source.list()
            said = "nothing"
        except SourceError as error:
            said = str(error)
            if wanted in said:
                return said
        assert time.monotonic() < until, said
        await asyncio.sleep(0.02)


async def work_off(source: HoldingSource, seen: Callable[[str, Any], None] = lambda name, data: None) -> None:
    """Get and be done with all that is listed, until nothing is."""
    from wqc.runtime.text import decode

    while True:
        listing = await listed(source, lambda each: True)
        if not listing.versions and not listing.settling:
            return
        for name in listing.versions:
            while True:
                try:
                    seen(name, decode(await source.get(name)))
                    await source.done(name)
                    break
                except SourceError:
                    await asyncio.sleep(0.02)
                    if name not in (await listed(source, lambda each: True)).versions:
                        break
