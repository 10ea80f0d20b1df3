"""A Job as the manager sees it, whichever store runs it."""

from dataclasses import dataclass
from typing import Literal

from wqc.runtime.obstacles import Kind

Phase = Literal["active", "succeeded", "failed", "lost"]
"""`failed`: a container started and failed, or the Job only holds an item that failed.
`lost`: the Job is over and none did; the item isn't to blame.
"""

Content = Literal["here", "apart", "absent"]
"""Where the item's data is: with the Job, in an object of its own (JobStore.data), or in neither, since that
isn't made yet, or the item is too large for both.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt at one item. Times are seconds since the epoch."""

    job: str
    """The Job's own name."""
    queue: str
    lane: str
    name: str
    """The item's."""
    version: str
    round: int
    attempt: int
    failures: int
    """How many attempts before this one count as failed."""
    data: str
    """The item's data, JSON; empty on a Job that is done, and where it isn't with the Job."""
    created: float
    phase: Phase = "active"
    running: bool = False
    hindrance: str = ""
    """Why it can't start, or never did: no image, no node, …; "" while nothing is known to be in its way."""
    hindered_by: Kind = ""
    overdue: float | None = None
    """When its pod should have been gone. It isn't, so the node is lost on which it may still run."""
    unclear: bool = False
    """It may be over: what became of it is being asked for."""
    superseded: bool = False
    """Another attempt may start though this one isn't over."""
    cut_off: bool = False
    """It was lost with its manager: that says nothing about the item or its lane."""
    finished: float | None = None
    unscheduled: float = 0.0
    """Seconds that its pod waited for a node."""
    exit_code: int | None = None
    message: str | None = None
    """What the worker wrote to WORK_RESULT_FILE, or the end of its output if it failed; None: not known."""
    template: str = ""
    """Which template it is made from."""
    node_selector: tuple[tuple[str, str], ...] = ()
    """Which nodes it may run on, as pairs in order."""
    reason: str = ""
    """Why it failed or was lost, for people."""
    content: Content = "here"
    held: bool = False
    """It never runs: it holds an item that no worker can have."""
    done: bool = False
    deleting: bool = False
    resource_version: str = ""
