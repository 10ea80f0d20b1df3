"""What `wqc fill` puts on a queue, portion by portion: who asks for the next has put the last one there."""

import sys
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from uuid import uuid4

from wqc.cli.ending import Trouble
from wqc.runtime.filling.bodies import body_of_data, body_of_line
from wqc.runtime.filling.filler import Entry
from wqc.runtime.sources.source import HoldingSource, NoSuchItem, Source

AT_ONCE = 500
"""Items of a portion."""

Portions = AsyncIterator[list[Entry]]


async def from_lines(lines: Iterable[bytes], format: str) -> Portions:
    """Each line is an item of its own, also where two are equal. Raises Trouble for one that can't be."""
    numbered = enumerate(lines, 1)
    while portion := [_entry(number, line, format) for number, line in islice(numbered, AT_ONCE)]:
        yield portion


async def from_source(source: Source, name: str, format: str) -> Portions:
    """All that the source lists. Raises SourceError.

    A source that holds its items until somebody else has them is told so, and asked for more.
    """
    seen: set[str] = set()
    while True:
        listing = await source.list()
        fresh = [item for item in listing.versions if item not in seen and item not in listing.failed]
        for items in _portions(fresh):
            yield [entry for item in items if (entry := await _read(source, item, format))]
            if listing.wants_done and isinstance(source, HoldingSource):
                for item in items:
                    await source.done(item)
        seen.update(fresh)
        if not (fresh and listing.wants_done):
            break
    for reason in listing.failed.values():
        print(f"an item of {name} stays where it is: {reason}", file=sys.stderr)
    if listing.settling:
        print(f"{name} has more that isn't complete yet", file=sys.stderr)


def _entry(number: int, line: bytes, format: str) -> Entry:
    try:
        return Entry(uuid4().hex, body_of_line(line, format))
    except ValueError as error:
        raise Trouble(f"item {number}: {error}") from None


async def _read(source: Source, item: str, format: str) -> Entry | None:
    """None if it is gone since it was listed."""
    try:
        return Entry(item, body_of_data(await source.get(item), format))
    except NoSuchItem:
        return None


def _portions(items: list[str]) -> Iterator[list[str]]:
    rest = iter(items)
    while portion := list(islice(rest, AT_ONCE)):
        yield portion
