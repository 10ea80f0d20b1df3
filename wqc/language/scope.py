"""What bare names stand for while values are typed: params, a generic worker's parameters, `each`."""

from collections.abc import Mapping
from dataclasses import dataclass

from wqc.diagnostics.source import Span
from wqc.language import syntax


@dataclass(frozen=True, slots=True)
class Binding:
    """A value as written, the scope that it was written in, and where the name was declared."""

    value: syntax.Value
    scope: "Scope"
    declared: Span


@dataclass(frozen=True, slots=True)
class Scope:
    """Names and their bindings; `unset` are declared names that have no value, already reported, and `below`
    those that are declared further down.
    """

    bindings: Mapping[str, Binding]
    unset: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()

    def with_bindings(self, more: Mapping[str, Binding]) -> "Scope":
        return Scope({**self.bindings, **more}, self.unset - more.keys(), self.below - more.keys())

    def without(self, name: str) -> "Scope":
        """The name is declared, and has no value."""
        return Scope(self.bindings, self.unset | {name}, self.below - {name})

    def knows(self, name: str) -> bool:
        return name in self.bindings or name in self.unset


EMPTY = Scope({})
