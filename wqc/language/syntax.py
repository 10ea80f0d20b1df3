"""The parsed tree: what stands in a `.wq` file, before any of it is looked up or typed."""

from typing import NamedTuple

from wqc.diagnostics.source import Source, Span


class Name(NamedTuple):
    text: str
    span: Span


class String(NamedTuple):
    """`"…"`: literal parts and, as `Name`, the params that `${name}` puts in (escapes already decoded)."""

    parts: tuple[str | Name, ...]
    span: Span


class Script(NamedTuple):
    """`\"\"\"…\"\"\"`: raw, its common indentation removed, ending in a newline if it had several lines."""

    text: str
    span: Span


class Number(NamedTuple):
    """`3`, `0.4`, `-1`: the digits as written."""

    text: str
    span: Span


class Measure(NamedTuple):
    """A number and its unit, or several (`1h30m`), as written; the attribute's type reads it."""

    text: str
    span: Span


class Constant(NamedTuple):
    """`true`, `false` or `null`."""

    value: bool | None
    span: Span


class Path(NamedTuple):
    """`films`, `channel.email`, `item.data.country`: a reference, a word, a param or a condition."""

    names: tuple[Name, ...]
    span: Span

    @property
    def text(self) -> str:
        return ".".join(name.text for name in self.names)


class Range(NamedTuple):
    """`low..high`."""

    low: "Value"
    high: "Value"
    span: Span


class Entry(NamedTuple):
    """One `key = value` of a map, a call or a block."""

    key: Name | String
    value: "Value"
    span: Span


class Call(NamedTuple):
    """`pvc("media", read_only = true)`."""

    function: Name
    arguments: tuple["Value", ...]
    keywords: tuple[Entry, ...]
    span: Span


class ListValue(NamedTuple):
    items: tuple["Value", ...]
    span: Span


class MapValue(NamedTuple):
    entries: tuple[Entry, ...]
    span: Span


class Expression(NamedTuple):
    """Anything with an operator, an index or a method: only where the schema takes CEL, which is
    `span.text`.
    """

    span: Span


class Broken(NamedTuple):
    """Where a value stands that could not be read; a finding says why, so that nothing else need."""

    span: Span


Value = (
    String
    | Script
    | Number
    | Measure
    | Constant
    | Path
    | Range
    | Call
    | ListValue
    | MapValue
    | Expression
    | Broken
)


class Block(NamedTuple):
    """`kind name(parameters): base = value { attributes }`, each part but the kind optional.

    `head` covers kind to base; `span` the whole. `attributes` is `None` without braces.
    """

    kind: Name
    name: Name | None
    parameters: tuple[Name, ...]
    base: Path | None
    value: Value | None
    attributes: tuple[Entry, ...] | None
    head: Span
    span: Span


class Import(NamedTuple):
    """`import "path" as alias`."""

    path: String
    alias: Name
    span: Span


class Comment(NamedTuple):
    """`# …` up to the line's end; `own_line` when nothing else stands before it on its line."""

    text: str
    span: Span
    own_line: bool


class Document(NamedTuple):
    """One file, in the order written."""

    source: Source
    statements: tuple[Block | Import, ...]
    comments: tuple[Comment, ...]
