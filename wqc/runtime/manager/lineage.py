"""Whether a queue's ConfigMap is the one that its Jobs and its record belong to: they go with it.

Which one that is stands in the workflow's state, as `owner.QUEUE`; `lost.QUEUE` says since when another one
has been in its place.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from wqc.runtime.logs import log
from wqc.runtime.manager.requests import LOST, OWNER
from wqc.runtime.stores.state import Conflict, StateStore
from wqc.runtime.stores.store import Refused


class OwnerGone(Exception):
    """What the manager knows of a queue is gone: it has to start anew."""


class Lineage:
    """`told`: for so many seconds status says what was lost."""

    def __init__(self, state: StateStore, told: float) -> None:
        self._state = state
        self._told = told
        self._owners: dict[str, str] = {}
        self._lost: dict[str, float] = {}
        self._gone = ""

    async def load(self, owners: Mapping[str, str]) -> None:
        """`owners`: what stands for each queue's ConfigMap now, and for no other ever. Raises Refused."""
        self._owners = dict(owners)
        entries = (await self._state.read()).entries
        changes: dict[str, str | None] = {}
        for queue, owner in owners.items():
            known = entries.get(OWNER + queue, owner)
            if known != owner:
                changes[LOST + queue] = str(time.time())
                log(logging.WARNING, "its ConfigMap is another one: Jobs and record are lost", queue=queue)
            if entries.get(OWNER + queue) != owner:
                changes[OWNER + queue] = owner
        if changes:
            try:
                await self._state.write(changes)
            except Conflict as conflict:
                raise Refused(str(conflict)) from None
        for queue in owners:
            if since := changes.get(LOST + queue) or entries.get(LOST + queue):
                self._lost[queue] = float(since)

    def notice(self, queue: str) -> str:
        """For people."""
        if queue == self._gone:
            return (
                "its ConfigMap was deleted, and its Jobs and its record with it: apply what wqc built again"
            )
        since = self._lost.get(queue)
        if since is None or time.time() > since + self._told:
            return ""
        at = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return (
            f"its ConfigMap was deleted, and is there again since {at}; its Jobs and its record are lost: "
            "items that its source still lists are worked on again"
        )

    async def watch(self, period: float, owner_of: Callable[[str], Awaitable[str]]) -> None:
        """Look every so many seconds; never returns. Raises OwnerGone.

        `owner_of` says what stands for a queue's ConfigMap now. It raises Refused, LookupError.
        """
        while True:
            await asyncio.sleep(period)
            for queue, owner in self._owners.items():
                try:
                    found = await owner_of(queue)
                except Refused:
                    continue
                except LookupError:
                    found = ""
                if found != owner:
                    self._gone = queue
                    raise OwnerGone(f"{queue}: {self.notice(queue)}")
