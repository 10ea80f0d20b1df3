"""A block with its attributes typed: the compiler's syntax tree after the schema has read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wqc.diagnostics.source import Span
from wqc.language import syntax
from wqc.language.typed import Invalid
from wqc.language.types import BlockType


class Given(NamedTuple):
    """A typed value (or INVALID), where it stands, where its key does, and the value as written."""

    value: Any
    span: Span
    key: Span
    written: syntax.Value


@dataclass(frozen=True, slots=True)
class Declaration:
    """One block. `kind` is `""` where the block has none; `type` is the row of the schema that read it.

    `members` holds the attributes of each member where a source has `each`; `attributes` are then those
    without `each` in them. `head` covers kind, name and what follows up to the brace.
    """

    block: str
    kind: str
    name: str
    type: BlockType
    attributes: Mapping[str, Given]
    name_span: Span
    head: Span
    members: Mapping[str, Mapping[str, Given]] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether nothing in it was reported, so that it can be looked at further."""
        every = [self.attributes, *self.members.values()]
        return not any(
            isinstance(given.value, Invalid) for attributes in every for given in attributes.values()
        )

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an attribute, `default` where it is absent or invalid."""
        given = self.attributes.get(name)
        return default if given is None or isinstance(given.value, Invalid) else given.value

    def span_of(self, name: str) -> Span:
        """Where an attribute's value stands; the block's head where it is absent."""
        given = self.attributes.get(name)
        return self.head if given is None else given.span
