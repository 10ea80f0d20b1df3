"""The types that attributes have in the schema table."""

from typing import Literal, NamedTuple


class Text(NamedTuple):
    """A string. `pattern` must match all of it; `what` says in words what the pattern asks for."""

    pattern: str = ""
    what: str = ""


class ScriptText(NamedTuple):
    """A script or a string."""


class Integer(NamedTuple):
    low: int = 0
    high: int = 2**31 - 1


class Fraction(NamedTuple):
    """A decimal number."""

    low: float = 0.0
    high: float = 1.0


class Flag(NamedTuple):
    """`true` or `false`."""


class DurationType(NamedTuple):
    """A measure in `us ms s m h d`, above zero."""


class CpuType(NamedTuple):
    """A number of cores, or a measure in `m`."""


class MemoryType(NamedTuple):
    """A measure in `k M G T Ki Mi Gi Ti`."""


class RangeOf(NamedTuple):
    """`low..high` or one value for both."""

    inner: "Integer | CpuType | MemoryType"


class Word(NamedTuple):
    """One of a few bare words."""

    options: tuple[str, ...]


class ReferenceTo(NamedTuple):
    """A name declared elsewhere: a `stream` (a node, an output or member of one), a `worker` or a `shard`."""

    what: Literal["stream", "worker", "shard"]


class CallOf(NamedTuple):
    """A call of one of these functions (`FUNCTIONS` in the schema), and parameters that it needs."""

    functions: tuple[str, ...]
    needs: tuple[str, ...] = ()


class ListOf(NamedTuple):
    """`distinct`: no entry may be there twice."""

    inner: "Type"
    least: int = 0
    distinct: bool = False


class MapOf(NamedTuple):
    """`keys` is a pattern for the keys, `what` says it in words; without a pattern keys are names."""

    inner: "Type"
    keys: str = ""
    what: str = ""
    least: int = 0


class Struct(NamedTuple):
    """A map with fixed keys."""

    fields: "tuple[Attribute, ...]"


class Cel(NamedTuple):
    """A CEL expression; `result` is the type that it must have."""

    result: Literal["bool", "any"]


class Data(NamedTuple):
    """Literal data: strings, numbers, true, false, null, lists and maps of them."""


class OneOf(NamedTuple):
    """The first of these that fits the value's form."""

    choices: "tuple[Type, ...]"


Type = (
    Text
    | ScriptText
    | Integer
    | Fraction
    | Flag
    | DurationType
    | CpuType
    | MemoryType
    | RangeOf
    | Word
    | ReferenceTo
    | CallOf
    | ListOf
    | MapOf
    | Struct
    | Cel
    | Data
    | OneOf
)


class Attribute(NamedTuple):
    """A row of the table. `default`, in `.wq` form, is what an absent attribute means; people are shown
    it.
    """

    name: str
    type: Type
    doc: str
    default: str = ""
    required: bool = False


class Function(NamedTuple):
    """A callable value such as `pvc("media", read_only = true)`."""

    name: str
    positional: tuple[Attribute, ...]
    keywords: tuple[Attribute, ...]
    doc: str


class BlockType(NamedTuple):
    """What a block, or one kind of it, is and takes.

    `named`: whether it has a name. `kinds`: the words that may stand after its colon. `outputs`: what can
    be read
    from it, `""` being the block's own name.
    """

    name: str
    doc: str
    attributes: tuple[Attribute, ...]
    named: bool = True
    kinds: "tuple[BlockType, ...]" = ()
    outputs: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    """For kinds of source: the known fields of `item.data`, with CEL types; empty where any may be there."""
