"""What people ask of a queue, and what is known of it, as entries of the workflow's state.

paused.QUEUE   there while a person wants the queue to start nothing
arrivals.QUEUE what it has seen of new items
rework.QUEUE   the `rework` that its record goes by (rework.py)
rollout.QUEUE  how far its newest template is (rollout.py)
absent.QUEUE   what no source has listed of it for how long (absences.py); a node or carrier has one too
owner.QUEUE    which object its Jobs belong to, and
lost.QUEUE     since when that is another one (lineage.py)
request.ID     one thing to be done once. A command writes it (`items`); the manager notes which failed Jobs
               it is about (`jobs`), then carries it out, then marks it done. That a Job is named before
               anything is done about it is what keeps a crash from doing it twice: a Job that was retried
               or discarded isn't its item's last one any more, or the record has its item.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from uuid import uuid4

import msgspec

from wqc.runtime.lanes.rollout import ROLLOUT
from wqc.runtime.text import decode, encode

PAUSED, ARRIVALS, REWORK, REQUEST = "paused.", "arrivals.", "rework.", "request."
ABSENT, OWNER, LOST = "absent.", "owner.", "lost."
KEEPS = {PAUSED: True, ARRIVALS: True, REWORK: True, ROLLOUT: True, ABSENT: True, OWNER: False, LOST: True}
"""Whether a queue that is renamed keeps its entry; its object is another one."""
KEPT = 20
"""So many requests are kept once they are done, for whoever asked."""

Action = Literal["retry", "discard"]


@dataclass(frozen=True, slots=True)
class Request:
    queue: str
    action: Action
    items: tuple[str, ...] | None = None
    """Names; None for all that failed."""
    jobs: tuple[str, ...] | None = None
    """The failed Jobs that it is about; None until the manager has looked."""
    missing: tuple[str, ...] = ()
    """Items that aren't among the failed ones."""
    done: bool = False
    count: int = 0
    """How many items it was about, once it is done."""


def new_request(request: Request) -> tuple[str, str]:
    """An entry. Keys sort by time."""
    return f"{REQUEST}{time.time_ns():020}-{uuid4().hex[:8]}", encode_request(request)


def encode_request(request: Request) -> str:
    return encode(msgspec.to_builtins(request))


def decode_request(text: str) -> Request:
    """Raises ValueError."""
    try:
        return msgspec.convert(decode(text), Request)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a request: {error}") from None


def requests(entries: Mapping[str, str]) -> dict[str, Request | None]:
    """By key, the oldest first; None for one that can't be read."""
    found: dict[str, Request | None] = {}
    for key in sorted(entries):
        if key.startswith(REQUEST):
            try:
                found[key] = decode_request(entries[key])
            except ValueError:
                found[key] = None
    return found


def renamed(entries: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str | None]:
    """What to change so that the entries speak of queues by their names of now. `names`: by the former."""
    changes: dict[str, str | None] = {}
    for former, name in names.items():
        for prefix, keeps in KEEPS.items():
            if (text := entries.get(prefix + former)) is not None:
                changes[prefix + former] = None
                if keeps:
                    changes.setdefault(prefix + name, entries.get(prefix + name, text))
    for key, request in requests(entries).items():
        if request and not request.done and request.queue in names:
            changes[key] = encode_request(replace(request, queue=names[request.queue]))
    return changes


def is_paused(entries: Mapping[str, str], queue: str) -> bool:
    return PAUSED + queue in entries
