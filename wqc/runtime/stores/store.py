"""What the manager asks of a place where Jobs run."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from wqc.runtime.stores.job import Job


@dataclass(frozen=True, slots=True)
class QueueFiles:
    """A queue's ConfigMap: `settings.yaml`, `job.yaml`, and the object that its Jobs belong to."""

    settings: str
    job: str
    owner: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Listed:
    """These Jobs exist, and no others."""

    jobs: tuple[Job, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    job: Job


@dataclass(frozen=True, slots=True)
class Gone:
    job: str


@dataclass(frozen=True, slots=True)
class Unsure:
    """What the manager knows may be out of date: it starts nothing until the next Listed."""

    reason: str


Change = Listed | Changed | Gone | Unsure


Kind = Literal["ledger", "failed", "absent"]
"""What is recorded: the finished items, those of them that failed and that a reader has, or those that no
source lists (absences.py).
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of what a queue records; never changed once it is written."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Template:
    """A queue's `job.yaml` as it is or was. `digest` stands for `text`, which never changes."""

    digest: str
    text: str


class AlreadyExists(Exception):
    """There is a Job of this name; whose, `get` says."""


class ForeignJob(Exception):
    """The Job of this name isn't this queue's; it is left alone."""


class Refused(Exception):
    """The store won't or can't do it now. `retry_after`: seconds, where it said when to ask again."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Announcement:
    """`reason`: one word in capitals; `message`: for people, with the queue's name."""

    reason: str
    message: str
    is_warning: bool


class JobStore(Protocol):
    """All methods but `changes` raise Refused. They may be called at the same time."""

    async def files(self, queue: str) -> QueueFiles:
        """Raises also LookupError: the queue has none."""
        ...

    async def holds(self, node: str) -> dict[str, Any]:
        """The object to which Jobs belong that hold what failed in a pattern node.

        To be called before `changes`; from then on the node has Jobs and segments as a queue has. Raises also
        LookupError.
        """
        ...

    async def take_over(self, queue: str, former: str) -> None:
        """What the queue had under its former name, Jobs and segments, is the queue's from now on.

        To be called before `changes`. Nothing happens if nothing is left of the former queue.
        """
        ...

    def changes(self) -> AsyncIterator[Change]:
        """Listed first, then every change of the workflow's Jobs; never ends by itself."""
        ...

    async def create(self, queue: str, manifest: dict[str, Any], data: str = "") -> Job:
        """`data` is the item's, for a Job that doesn't have it itself.

        Raises also AlreadyExists. If Refused, the Job may be there without the item's data.
        """
        ...

    async def complete(self, job: Job, data: str) -> Job:
        """Keep the data of a Job's item, of which it is absent. Raises also LookupError: the Job is gone."""
        ...

    async def data(self, job: Job) -> str:
        """The data of an item that is apart from its Job. Raises also LookupError."""
        ...

    async def get(self, queue: str, job: str) -> Job | None:
        """None: there is none. Raises also ForeignJob."""
        ...

    async def supersede(self, job: Job) -> None:
        """Mark an active Job whose node is lost: the next attempt may start. One that is gone is left."""
        ...

    async def give_up(self, job: Job) -> None:
        """End an attempt that never started; it is lost. One that is gone is left."""
        ...

    async def finish(self, job: Job, ttl: float) -> None:
        """Mark a finished Job done; it goes away in `ttl` seconds. One that is gone already is done too."""
        ...

    async def segments(self, queue: str, kind: Kind = "ledger") -> tuple[Segment, ...]: ...

    async def add_segment(self, queue: str, segment: Segment, kind: Kind = "ledger") -> None:
        """One that is there already is left as it is: the name stands for the content."""
        ...

    async def remove_segment(self, queue: str, name: str, kind: Kind = "ledger") -> None: ...

    async def templates(self, queue: str) -> tuple[Template, ...]: ...

    async def keep_template(self, queue: str, template: Template) -> None:
        """One that is there already is left as it is."""
        ...

    async def forget_template(self, queue: str, digest: str) -> None: ...

    async def announce(self, queue: str, said: Announcement) -> None:
        """Tell who looks at the place how the queue is, or of the workflow anything else."""
        ...

    async def close(self) -> None: ...
