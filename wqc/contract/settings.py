"""The settings that `wqc build` writes into ConfigMaps and that the manager and its ambassadors read.

A queue's ConfigMap holds `settings.yaml` (QueueSettings) and `job.yaml` (the Job of one attempt, without a
name). A source's holds `source.yaml` (SourceSettings), a carrier's `carrier.yaml` (CarrierSettings). Field
names are the YAML's keys as they
stand; absent keys have the defaults below. Times are in seconds.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from wqc.contract.limits import FAILED_LIMIT, KEEP


@dataclass(frozen=True, slots=True)
class Parallelism:
    """How many items at a time; between the two the manager scales by itself."""

    min: int
    max: int


@dataclass(frozen=True, slots=True)
class Lane:
    """One member of the bundle that a queue reads; a queue that reads a plain stream has one lane named
    `""`.
    """

    name: str
    parallelism: Parallelism
    node_selector: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rollout:
    """The lanes get a new template in this order, the next after `prove` successes of the one before."""

    order: tuple[str, ...]
    prove: int = 20


@dataclass(frozen=True, slots=True)
class QueueSettings:
    queue: str
    lanes: tuple[Lane, ...]
    retries: int = 3
    result: Literal["required", "optional", "none"] = "none"
    rework: Literal["never", "on_change"] = "never"
    poison: tuple[int, ...] = ()
    deadline: float = 3600.0
    handover: int = 500
    failed_limit: int = FAILED_LIMIT
    keep: float = KEEP
    paused: bool = False
    formerly: str = ""
    arrives: float | None = None
    """The mean time between two new items, in seconds, as the file states or implies it."""
    takes: float | None = None
    rollout: Rollout | None = None


Setting = Any
"""Plain data: scalars, lists and maps of them. A recursive alias would say so, but msgspec reads none."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """`options` are the source kind's attributes as the language names them, durations in seconds.

    Credentials aren't among them: a value of the form `{"file": PATH}` is read from a mounted file, and
    `{"env": NAME}`
    from the environment. `members` holds one set of options per member where the source is a bundle,
    and then `options` is empty.
    """

    source: str
    kind: str
    options: dict[str, Setting] = field(default_factory=dict)
    members: dict[str, dict[str, Setting]] = field(default_factory=dict)
    workflow: str = ""
    """What a broker knows the source by: `WORKFLOW.SOURCE`."""


@dataclass(frozen=True, slots=True)
class CarrierSettings:
    carrier: str
    kind: str
    options: dict[str, Setting] = field(default_factory=dict)
