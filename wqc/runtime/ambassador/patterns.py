"""The pattern nodes in front of any Source API: the book's reusable ambassadors.

Each output is a source of its own.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from wqc.patterns.item import Failed, Item, Pattern, Step
from wqc.patterns.merger import Merger, interleave
from wqc.runtime.graph.graph import FAILED
from wqc.runtime.logs import log
from wqc.runtime.queue.failure import failure_text
from wqc.runtime.sources.source import HoldingSource, Listing, NoSuchItem, Source, SourceError
from wqc.runtime.text import decode

AT_ONCE = 16

Entry = tuple[str, str]
"""An item's name and version."""


class Node:
    """A copier, filter, splitter or sharder. Verdicts are kept while their items are listed."""

    def __init__(self, source: Source, pattern: Pattern, outputs: tuple[str, ...] = ("",)) -> None:
        """`outputs`: the copier's readers; other patterns say themselves where an item goes."""
        self._source = source
        self._pattern = pattern
        self._copies = outputs
        self._outputs: dict[Entry, tuple[str, ...]] = {}
        self._unreadable: dict[Entry, str] = {}
        """Items that are listed but can't be read, and why."""
        self._told: dict[str, set[str]] = {}
        """By item: the outputs whose reader is done with it."""
        self._listing = Listing({})
        self._listed: dict[str, Listing] = {}
        """By output: its part of the listing."""
        self._turn = asyncio.Lock()

    async def list(self, output: str) -> Listing:
        """Raises SourceError; the verdicts that were found until then are kept."""
        async with self._turn:
            listing = await self._source.list()
            if listing != self._listing or len(self._outputs) < len(listing.versions):
                self._listed.clear()
                await self._judge(listing)
                self._listing = listing
            if output not in self._listed:
                entries = listing.versions.items()
                versions = {entry[0]: entry[1] for entry in entries if output in self._outputs.get(entry, ())}
                # at the output for failures they are items like others
                marked = {} if output == FAILED else listing.failed
                failed = {name: why for name, why in marked.items() if name in versions}
                self._listed[output] = replace(listing, versions=versions, failed=failed)
            return self._listed[output]

    async def get(self, output: str, name: str) -> str:
        version = self._listing.versions.get(name, "")
        text = await self._source.get(name)
        if name in self._listing.failed and output in self._outputs.get((name, version), ()):
            return text
        item = Item(name, version, _data(name, text))
        step = self._pattern.route(item)
        if output not in self._ways(step):
            raise NoSuchItem(f"{name} doesn't go here")
        return failure_text(item, step.reason).text if isinstance(step, Failed) else text

    async def done(self, output: str, name: str) -> None:
        """The source is told when every reader that the item goes to is done with it.

        Raises SourceError while it isn't known which those are.
        """
        if name not in self._listing.versions:
            await self.list(output)  # after a start nothing is known yet
        if name not in self._listing.versions:
            return
        ways = self._outputs.get((name, self._listing.versions[name]))
        if ways is None:
            raise SourceError(f"{name}: it isn't known yet where it goes")
        told = self._told.setdefault(name, set())
        told.add(output)
        if told.issuperset(ways):
            await self._let_go(name)
            self._told.pop(name, None)  # a listing without it may have come meanwhile

    async def close(self) -> None:
        await self._source.close()

    async def _judge(self, listing: Listing) -> None:
        entries = listing.versions.items()
        self._outputs = {entry: ways for entry, ways in self._outputs.items() if entry in entries}
        self._told = {name: told for name, told in self._told.items() if name in listing.versions}
        fresh = [entry for entry in entries if entry not in self._outputs]
        for start in range(0, len(fresh), AT_ONCE):
            batch = fresh[start : start + AT_ONCE]
            await asyncio.gather(*(self._judge_one(*entry, listing.failed) for entry in batch))
        self._unreadable = {entry: why for entry, why in self._unreadable.items() if entry in entries}
        if len(fresh) > 1 and all(entry in self._unreadable for entry in entries):
            # it is the source, more likely than all of them
            raise SourceError(f"{fresh[0][0]}: {self._unreadable[fresh[0]]}")
        if listing.wants_done:
            for entry in entries:  # not of the fresh ones alone: it may not have heard it the last time
                if self._outputs.get(entry) == ():
                    await self._let_go(entry[0])

    async def _judge_one(self, name: str, version: str, failed: Mapping[str, str]) -> None:
        """An item that can't be read has no verdict yet; one that failed before is passed on."""
        data = None
        if name in failed and self._pattern.reads_data:
            self._outputs[name, version] = (FAILED,)
            return
        if self._pattern.reads_data:
            try:
                data = _data(name, await self._source.get(name))
            except NoSuchItem:
                return
            except SourceError as error:
                if self._unreadable.get((name, version)) != str(error):
                    log(logging.WARNING, "item can't be read", item=name, reason=str(error))
                self._unreadable[name, version] = str(error)
                return
            self._unreadable.pop((name, version), None)
        self._outputs[name, version] = self._ways(self._pattern.route(Item(name, version, data)))

    def _ways(self, step: Step) -> tuple[str, ...]:
        if isinstance(step, Failed):
            return (FAILED,)
        return tuple(way for sent in step for way in ((sent.output,) if sent.output else self._copies))

    async def _let_go(self, name: str) -> None:
        if isinstance(self._source, HoldingSource):
            await self._source.done(name)


class Output:
    """One output of a node."""

    def __init__(self, node: Node, output: str = "") -> None:
        self._node = node
        self._output = output

    async def list(self) -> Listing:
        return await self._node.list(self._output)

    async def get(self, name: str) -> str:
        return await self._node.get(self._output, name)

    async def done(self, name: str) -> None:
        await self._node.done(self._output, name)

    async def close(self) -> None:
        await self._node.close()


class MergedSource:
    """Several sources as one: an item's name becomes `input:name`, and each input takes its turn."""

    def __init__(self, inputs: Mapping[str, Source]) -> None:
        self._inputs = inputs

    async def list(self) -> Listing:
        """Fails closed: without one of its inputs the listing isn't complete."""
        listings = await asyncio.gather(*(source.list() for source in self._inputs.values()))
        each = list(zip(self._inputs, listings, strict=True))
        streams = [
            [(_merged(input, name), version) for name, version in listing.versions.items()]
            for input, listing in each
        ]
        return Listing(
            dict(interleave(streams)),
            any(listing.settling for listing in listings),
            any(listing.wants_done for listing in listings),
            {_merged(input, name): why for input, listing in each for name, why in listing.failed.items()},
            "; ".join(f"{input}: {listing.notice}" for input, listing in each if listing.notice),
            sum(listing.left_out for listing in listings),
            _longest([listing.remember for listing in listings]),
        )

    async def get(self, name: str) -> str:
        source, own = self._find(name)
        return await source.get(own)

    async def done(self, name: str) -> None:
        source, own = self._find(name)
        if isinstance(source, HoldingSource):
            await source.done(own)

    async def close(self) -> None:
        for source in self._inputs.values():
            await source.close()

    def _find(self, name: str) -> tuple[Source, str]:
        input, _, own = name.partition(":")
        if input not in self._inputs:
            raise NoSuchItem(f"{name} doesn't begin with the name of an input")
        return self._inputs[input], own


def _longest(remembered: Sequence[float | None]) -> float | None:
    known = [each for each in remembered if each is not None]
    return max(known, default=None) if len(known) == len(remembered) else None


def _merged(input: str, name: str) -> str:
    step = Merger(input).route(Item(name))
    assert not isinstance(step, Failed)
    return step[0].item.name


def _data(name: str, text: str) -> object:
    try:
        return decode(text)
    except ValueError as error:
        raise SourceError(f"{name}: its data isn't JSON: {error}") from None
