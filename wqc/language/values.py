"""Typed values of attributes, and their one canonical spelling in Kubernetes and in messages."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Generic, TypeVar

from wqc.diagnostics.source import Span

Bound = TypeVar("Bound")

_MEMORY_UNITS = (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time."""

    microseconds: int

    @property
    def seconds(self) -> float:
        return self.microseconds / 1_000_000

    def __str__(self) -> str:
        rest, parts = self.microseconds, ""
        for unit, size in (("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000)):
            count, rest = divmod(rest, size)
            parts += f"{count}{unit}" if count else ""
        millis, micros = divmod(rest, 1000)
        parts += f"{millis}ms" if millis else ""
        parts += f"{micros}us" if micros else ""
        return parts or "0s"


@dataclass(frozen=True, slots=True, order=True)
class Cpu:
    """Processor time in thousandths of a core."""

    millicores: int

    def __str__(self) -> str:
        cores, rest = divmod(self.millicores, 1000)
        return f"{self.millicores}m" if rest else str(cores)


@dataclass(frozen=True, slots=True, order=True)
class Memory:
    """An amount of memory or storage in bytes."""

    bytes: int

    def __str__(self) -> str:
        for unit, size in _MEMORY_UNITS:
            if self.bytes and self.bytes % size == 0:
                return f"{self.bytes // size}{unit}"
        return str(self.bytes)


@dataclass(frozen=True, slots=True)
class Range(Generic[Bound]):
    """Both ends belong to it."""

    low: Bound
    high: Bound

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}..{self.high}"


@dataclass(frozen=True, slots=True)
class Reference:
    """A name as written in the source: `("channel", "email")`."""

    names: tuple[str, ...]
    span: Span = field(compare=False, repr=False)

    def __str__(self) -> str:
        return ".".join(self.names)


@dataclass(frozen=True, slots=True)
class Condition:
    """A CEL expression (https://cel.dev), unparsed, without comments; `span` covers its text."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pvc:
    """A PersistentVolumeClaim of the namespace; `access` is `rwx` (many nodes), `rwo` (one node) or `rox`."""

    name: str
    read_only: bool = False
    access: str = "rwx"
    sub_path: str = ""


@dataclass(frozen=True, slots=True)
class Secret:
    """One key of a Secret of the namespace, or, without a key, all of it (as files)."""

    name: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class ConfigMap:
    """One key of a ConfigMap of the namespace, or, without a key, all of it (as files)."""

    name: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes that carry all these labels; `zone("a")` is `nodes({"topology.kubernetes.io/zone" = "a"})`."""

    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Cidr:
    """A network that may be reached, in CIDR notation."""

    network: str


Raw = None | bool | int | Decimal | str | list["Raw"] | dict[str, "Raw"]
"""Literal data: what `pod` and the entries of `items` hold."""
