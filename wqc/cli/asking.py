"""Telling a running workflow what to do with one of its queues."""

import asyncio
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wqc.cli import running
from wqc.cli.ending import Status, Trouble
from wqc.cli.running import NeverRan, Place, asking, place, read_report

if TYPE_CHECKING:
    from wqc.runtime.manager.requests import Action, Request
    from wqc.runtime.manager.status import QueueStatus

PATIENCE = 10.0
"""Seconds that a manager that runs has for an answer."""


def add_arguments(parser: ArgumentParser, items: bool) -> None:
    parser.add_argument(
        "queue",
        metavar="QUEUE",
        help="the queue"
        + (", or the node that failed items" if items else "")
        + "; WORKFLOW/QUEUE where several have one of that name",
    )
    if items:
        parser.add_argument(
            "items",
            metavar="ITEM",
            nargs="*",
            help="a failed item's name, after -- if it begins with - (default: all)",
        )
    running.add_arguments(parser)


@dataclass(frozen=True, slots=True)
class Named:
    """`queue` is None for a pattern node or a source."""

    workflow: str
    name: str
    queue: "QueueStatus | None"


async def find(found: Place, name: str, nodes: bool) -> Named:
    """Of whom people speak. `nodes`: what isn't a queue and holds failed items will do. Raises Trouble."""
    wanted, _, part = name.rpartition("/")
    names = await found.workflows()
    if wanted and wanted not in names:
        raise Trouble(f"{found.where} has no workflow {wanted}, but {', '.join(names) or 'none at all'}")
    if not names:
        raise NeverRan(f"{found.where} has no workflow whose manager ever ran")
    queues: list[Named] = []
    others: list[Named] = []
    holding: list[Named] = []
    for workflow in [wanted] if wanted else names:
        if report := await read_report(found, workflow):
            queues += [Named(workflow, each.queue, each) for each in report.status.queues]
            others += [Named(workflow, each.node, None) for each in report.status.nodes]
            holding += [Named(workflow, each.node, None) for each in report.status.nodes if each.failed]
    possible = [*queues, *others] if nodes else queues
    having = [each for each in possible if each.name == part]
    if nodes and not having:
        what = f"queue {part}, and no node or source of that name that holds failed items"
        raise Trouble(f"{found.where} has no {what}, but {_listed([*queues, *holding])}")
    if not having and any(each.name == part for each in others):
        raise Trouble(f"{part} is no queue, and only queues can be paused; there are {_listed(queues)}")
    if not having:
        raise NeverRan(f"{found.where} has no queue {part}, but {_listed(queues)}")
    if len(having) > 1:
        raise Trouble(f"which one? {', '.join(f'{each.workflow}/{part}' for each in having)}")
    return having[0]


def _listed(named: Sequence[Named]) -> str:
    """As they may be called."""
    count = Counter(each.name for each in named)
    names = (each.name if count[each.name] == 1 else f"{each.workflow}/{each.name}" for each in named)
    return ", ".join(names) or "none at all"


def ask(arguments: Namespace, action: "Action") -> Status:
    return asyncio.run(_ask(place(arguments), arguments.queue, tuple(arguments.items) or None, action))


async def _ask(found: Place, name: str, items: tuple[str, ...] | None, action: "Action") -> Status:
    from wqc.runtime.manager.requests import Request, new_request

    named = await find(found, name, nodes=True)
    workflow, queue = named.workflow, named.name
    managed = await found.is_managed(workflow)
    key, text = new_request(Request(queue, action, items))
    with asking(found.where):
        await found.state(workflow).write({key: text})
        request = await _answer(found, workflow, key) if managed is not False else None
    if request is None or request.jobs is None:
        when = "has still to see it" if managed else "does it once it runs"
        print(f"{queue}: it is noted; {workflow}'s manager {when}")
        return Status.CLEAN
    count = request.count or len(request.jobs)
    done = {"retry": "tried again", "discard": "discarded"}[action]
    if count or not request.missing:
        print(f"{queue}: {_items(count)} {done}" if count else f"{queue}: {_none(named.queue)}")
    retried = {each.item for each in named.queue.retrying.first} if named.queue else set()
    for item in request.missing:
        from wqc.runtime.text import one_line

        why = ": it waits for another attempt" if item in retried else ""
        print(f"{queue}: no failed item is called {one_line(item)}{why}", file=sys.stderr)
    return Status.FINDINGS if request.missing else Status.CLEAN


async def _answer(found: Place, workflow: str, key: str) -> "Request | None":
    """The request once it is known which items it is about, or as it is when time is over."""
    from wqc.runtime.manager.requests import requests

    until = time.monotonic() + PATIENCE
    while True:
        request = requests((await found.state(workflow).read()).entries).get(key)
        if request is None or request.jobs is not None or time.monotonic() > until:
            return request
        await asyncio.sleep(0.2)


def _none(queue: "QueueStatus | None") -> str:
    """Why there is nothing to do about failed items."""
    if queue and queue.failed > queue.held:
        return f"no failed item is held: what reads {queue.queue}.failed has them"
    return "no item failed"


def _items(count: int) -> str:
    return "1 item is" if count == 1 else f"{count} items are"


def switch(arguments: Namespace, paused: bool) -> Status:
    return asyncio.run(_switch(place(arguments), arguments.queue, paused))


async def _switch(found: Place, name: str, paused: bool) -> Status:
    from wqc.runtime.manager.requests import PAUSED, is_paused
    from wqc.runtime.queue.queue import PAUSED_IN_FILE

    try:
        named = await find(found, name, nodes=False)
    except NeverRan as why:
        hint = "; a queue that never ran is paused by paused = true in its file" if paused else ""
        raise Trouble(f"{why}{hint}") from None
    queue = named.queue
    if queue is None:
        raise TypeError(f"{named.name} is no queue")
    with asking(found.where):
        store = found.state(named.workflow)
        was = is_paused((await store.read()).entries, queue.queue)
        if was != paused:
            await store.write({PAUSED + queue.queue: "" if paused else None})
    if not paused and queue.blocked == PAUSED_IN_FILE:
        print(f"{queue.queue}: its file says paused = true; change it there", file=sys.stderr)
        return Status.FINDINGS
    print(_switched(named.workflow, queue.queue, was, paused, await found.is_managed(named.workflow)))
    return Status.CLEAN


def _switched(workflow: str, queue: str, was: bool, paused: bool, managed: bool | None) -> str:
    if managed is False:
        then = f"starts nothing of {queue}" if paused else f"lets {queue} go on"
        return f"{queue}: {workflow}'s manager doesn't run; it {then} once it does"
    if was == paused:
        return f"{queue} is paused already" if paused else f"{queue} is not paused"
    return f"{queue} is paused; what runs goes on to its end" if paused else f"{queue} goes on"
