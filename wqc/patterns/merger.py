"""The merger: the union of its inputs, in which every input makes progress."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from wqc.patterns.item import Item, Sent, Step

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Merger:
    """The merger as one of its inputs sees it. Names are prefixed, so that two inputs never share an item."""

    input: str
    reads_data = False

    def route(self, item: Item) -> Step:
        return (Sent("", Item(f"{self.input}:{item.name}", item.version, item.data)),)


def interleave(streams: Iterable[Iterable[T]]) -> Iterator[T]:
    """One from each stream in turn, in their order, until all are empty: a long stream holds up no other."""
    turns = deque(iter(stream) for stream in streams)
    while turns:
        stream = turns.popleft()
        try:
            following = next(stream)
        except StopIteration:
            continue
        yield following
        turns.append(stream)
