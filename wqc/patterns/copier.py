"""The copier: the same stream to each of its readers."""

from dataclasses import dataclass

from wqc.patterns.item import Item, Sent, Step


@dataclass(frozen=True, slots=True)
class Copier:
    """How many readers there are is the graph's to know: each gets what is sent to the one output."""

    reads_data = False

    def route(self, item: Item) -> Step:
        return (Sent("", item),)
