"""The types that attributes have in the schema table."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Text:
    """A string. `pattern` must match all of it; `what` says in words what the pattern asks for."""

    pattern: str = ""
    what: str = ""


@dataclass(frozen=True, slots=True)
class ScriptText:
    """A script or a string."""


@dataclass(frozen=True, slots=True)
class Integer:
    low: int = 0
    high: int = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Fraction:
    """A decimal number."""

    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`."""


@dataclass(frozen=True, slots=True)
class DurationType:
    """A measure in `us ms s m h d`, above zero."""


@dataclass(frozen=True, slots=True)
class CpuType:
    """A number of cores, or a measure in `m`."""


@dataclass(frozen=True, slots=True)
class MemoryType:
    """A measure in `k M G T Ki Mi Gi Ti`."""


@dataclass(frozen=True, slots=True)
class RangeOf:
    """`low..high` or one value for both."""

    inner: "Integer | CpuType | MemoryType"


@dataclass(frozen=True, slots=True)
class Word:
    """One of a few bare words."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReferenceTo:
    """A name declared elsewhere: a `stream` (a node, an output or member of one), a `worker` or a `shard`."""

    what: Literal["stream", "worker", "shard"]


@dataclass(frozen=True, slots=True)
class CallOf:
    """A call of one of these functions (`FUNCTIONS` in the schema), and parameters that it needs."""

    functions: tuple[str, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListOf:
    inner: "Type"
    least: int = 0


@dataclass(frozen=True, slots=True)
class MapOf:
    """`keys` is a pattern for the keys, `what` says it in words; without a pattern keys are names."""

    inner: "Type"
    keys: str = ""
    what: str = ""
    least: int = 0


@dataclass(frozen=True, slots=True)
class Struct:
    """A map with fixed keys."""

    fields: "tuple[Attribute, ...]"


@dataclass(frozen=True, slots=True)
class Cel:
    """A CEL expression; `result` is the type that it must have."""

    result: Literal["bool", "any"]


@dataclass(frozen=True, slots=True)
class Data:
    """Literal data: strings, numbers, true, false, null, lists and maps of them."""


@dataclass(frozen=True, slots=True)
class OneOf:
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


@dataclass(frozen=True, slots=True)
class Attribute:
    """A row of the table. `default`, in `.wq` form, is what an absent attribute means; people are shown
    it.
    """

    name: str
    type: Type
    doc: str
    default: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A callable value such as `pvc("media", read_only = true)`."""

    name: str
    positional: tuple[Attribute, ...]
    keywords: tuple[Attribute, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class BlockType:
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
