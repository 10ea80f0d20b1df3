"""What flows through the graph, and what a pattern node says about one item."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Item:
    """One unit of work. `name` and `version` identify it; `data` is anything that JSON can say."""

    name: str
    version: str = ""
    data: Any = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A node sends `item` to its output: `""`, or the name of a case or a member."""

    output: str
    item: Item


@dataclass(frozen=True, slots=True)
class Failed:
    """A node can't say where the item belongs. It goes to the node's `.failed` stream."""

    reason: str


Step = tuple[Sent, ...] | Failed
"""Nothing at all, `()`, is a verdict too: a filter's rejection, or an item that `otherwise = drop` takes."""


class Pattern(Protocol):
    """A pattern node, for the items of one of its inputs."""

    @property
    def reads_data(self) -> bool:
        """Whether the verdict depends on the item's data, so that it must be fetched first."""
        ...

    def route(self, item: Item) -> Step:
        """Where the item goes: a function of nothing but the node and the item."""
        ...
