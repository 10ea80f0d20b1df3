"""The parsed tree: what stands in a `.wq` file, before any of it is looked up or typed."""

from dataclasses import dataclass

from wqc.diagnostics.source import Source, Span


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class String:
    """`"…"`: literal parts and, as `Name`, the params that `${name}` puts in (escapes already decoded)."""

    parts: tuple[str | Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Script:
    """`\"\"\"…\"\"\"`: raw, its common indentation removed, ending in a newline if it had several lines."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Number:
    """`3`, `0.4`, `-1`: the digits as written."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Measure:
    """A number and its unit, or several (`1h30m`), as written; the attribute's type reads it."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Constant:
    """`true`, `false` or `null`."""

    value: bool | None
    span: Span


@dataclass(frozen=True, slots=True)
class Path:
    """`films`, `channel.email`, `item.data.country`: a reference, a word, a param or a condition."""

    names: tuple[Name, ...]
    span: Span

    @property
    def text(self) -> str:
        return ".".join(name.text for name in self.names)


@dataclass(frozen=True, slots=True)
class Range:
    """`low..high`."""

    low: "Value"
    high: "Value"
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key = value` of a map, a call or a block."""

    key: Name | String
    value: "Value"
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`pvc("media", read_only = true)`."""

    function: Name
    arguments: tuple["Value", ...]
    keywords: tuple[Entry, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ListValue:
    items: tuple["Value", ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MapValue:
    entries: tuple[Entry, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Expression:
    """Anything with an operator, an index or a method: only where the schema takes CEL, which is
    `span.text`.
    """

    span: Span


@dataclass(frozen=True, slots=True)
class Broken:
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


@dataclass(frozen=True, slots=True)
class Block:
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


@dataclass(frozen=True, slots=True)
class Import:
    """`import "path" as alias`."""

    path: String
    alias: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Comment:
    """`# …` up to the line's end; `own_line` when nothing else stands before it on its line."""

    text: str
    span: Span
    own_line: bool


@dataclass(frozen=True, slots=True)
class Document:
    """One file, in the order written."""

    source: Source
    statements: tuple[Block | Import, ...]
    comments: tuple[Comment, ...]
