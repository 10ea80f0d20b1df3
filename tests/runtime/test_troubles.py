"""What people hear of items that nothing can be done with: which, why, and how many more there are."""

import asyncio
import json
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.badserver import http, server
from support.localrun import QUICK, managed, queue_files
from wqc.runtime.carriers.http import HttpCarrier
from wqc.runtime.graph.workflow import Workflow
from wqc.runtime.manager.status import (
    REASON_SHOWN,
    TROUBLES_SHOWN,
    Status,
    Trouble,
    Troubled,
    decode_report,
    in_words,
    troubled,
)
from wqc.runtime.periods import Periods
from wqc.runtime.queue.troubles import Troubles
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.items import ItemsSource
from wqc.runtime.sources.source import Source

NAMES = [f"film-{number}" for number in range(12)]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, ""),
        (1, "film-0: locked"),
        (2, "film-0: locked; 1 more item can't be started"),
        (5, "film-0: locked; 4 more items can't be started"),
    ],
)
def test_the_first_is_named_and_the_others_counted(count: int, words: str) -> None:
    assert in_words([Trouble(name, "locked") for name in NAMES[:count]], "started") == words


def test_a_lane_is_named_before_its_item() -> None:
    found = [Trouble("a", "no node takes its pod", "east"), Trouble("b", "locked")]
    assert in_words(found, "started") == "east: a: no node takes its pod; 1 more item can't be started"


def test_only_some_are_kept_and_no_long_reasons() -> None:
    found = troubled([Trouble(name, "x" * 5000) for name in NAMES])
    assert found.count == len(NAMES)
    assert [each.item for each in found.first] == NAMES[:TROUBLES_SHOWN]
    assert {len(each.reason) for each in found.first} == {REASON_SHOWN}


def test_each_further_try_waits_twice_as_long_up_to_a_limit() -> None:
    troubles = Troubles[str]("read", 10.0, Periods(backoff_limit=60.0), source="films")
    waits = [round(troubles.note("a", "a", "locked", "source") - time.monotonic()) for _ in range(5)]
    assert waits == [10, 20, 40, 60, 60]
    assert troubles.due("b") == 0.0
    troubles.settle("a")
    assert (round(troubles.note("a", "a", "locked", "source") - time.monotonic()), len(troubles)) == (10, 1)


class Unreadable:
    """A service that lists items, and has none of them while it is bad."""

    def __init__(self, well: int) -> None:
        self.well = well
        """So often an item is there before it is not."""
        self.asked: dict[str, int] = {}

    def __call__(self, request: str, connection: socket.socket) -> None:
        name = request.split()[1].removeprefix("/api/v1/items").removeprefix("/")
        if not name:
            listing = {"kind": "ItemList", "apiVersion": "v1", "items": NAMES}
            connection.sendall(http(200, json.dumps(listing)))
            return
        self.asked[name] = self.asked.get(name, 0) + 1
        if self.asked[name] > self.well:
            connection.sendall(http(404, "{}"))
        else:
            item = {"kind": "Item", "apiVersion": "v1", "data": {}}
            connection.sendall(http(200, json.dumps(item)))


def said(
    workflow: Workflow,
    folder: Path,
    source: Source,
    holds: Callable[[Status], bool],
    carrier: HttpCarrier | None = None,
) -> Status:
    """What the workflow's own state says, once that holds."""

    async def scenario() -> Status:
        files = {name: queue_files(name, "true") for name in workflow.queues}
        carriers = {"out": carrier} if carrier else {}
        reports: list[Status] = []
        try:
            async with managed(workflow, folder, files, {"films": source}, carriers=carriers) as manager:

                async def reported(status: Status) -> bool:
                    text = (await manager.state.read()).entries.get("status")
                    if text:
                        reports.append(decode_report(text).status)
                    return bool(reports) and holds(reports[-1])

                await manager.until(reported, 60)
                return reports[-1]
        finally:
            if carrier:
                await carrier.close()

    return asyncio.run(scenario())


WHY = "answers 404: it isn't there"


def names_them(found: Troubled, blocked: str, cannot: str) -> None:
    first = found.first[0]
    assert first.item in NAMES
    assert WHY in first.reason
    assert blocked == f"{first.item}: {first.reason}; 11 more items can't be {cannot}"
    assert (found.count, len(found.first)) == (12, TROUBLES_SHOWN)


def test_items_that_can_not_be_started(tmp_path: Path) -> None:
    workflow = Workflow("bad")
    workflow.queue("work", workflow.source("films"))
    with server(Unreadable(well=0)) as url:
        source = HttpSource(url, QUICK.request)
        status = said(workflow, tmp_path, source, lambda status: status.queues[0].troubled.count == 12)
    names_them(status.queues[0].troubled, status.queues[0].blocked, "started")
    assert {status.queues[0].blocked_by, *(each.kind for each in status.queues[0].troubled.first)} == {
        "source"
    }


def test_items_that_can_not_be_read(tmp_path: Path) -> None:
    workflow = Workflow("bad")
    workflow.queue("work", workflow.filter("some", workflow.source("films"), "item.data.x == 1"))
    with server(Unreadable(well=0)) as url:
        source = HttpSource(url, QUICK.request)
        status = said(
            workflow,
            tmp_path,
            source,
            lambda status: bool(status.sources) and status.sources[0].troubled.count == 12,
        )
    names_them(status.sources[0].troubled, status.sources[0].problem, "read")


def test_items_that_can_not_be_held(tmp_path: Path) -> None:
    """They lack the field that the filter reads; then they are gone."""
    workflow = Workflow("bad")
    workflow.queue("work", workflow.filter("some", workflow.source("films"), "item.data.x == 1"))
    with server(Unreadable(well=1)) as url:
        source = HttpSource(url, QUICK.request)
        status = said(
            workflow,
            tmp_path,
            source,
            lambda status: max((node.troubled.count for node in status.nodes), default=0) == 12,
        )
    (node,) = (node for node in status.nodes if node.troubled.count)
    assert node.node == "some"
    names_them(node.troubled, node.blocked, "held")


def test_items_that_can_not_be_published(tmp_path: Path) -> None:
    workflow = Workflow("bad")
    workflow.carrier("out", workflow.source("films"))
    reply = http(422, '{"reason": "it is too large"}')

    def refuse(request: str, connection: socket.socket) -> None:
        connection.sendall(reply)

    with server(refuse) as url:
        status = said(
            workflow,
            tmp_path,
            ItemsSource(dict.fromkeys(NAMES, 1)),
            lambda status: bool(status.carriers) and status.carriers[0].troubled.count == 12,
            HttpCarrier(url, QUICK.request),
        )
    (carrier,) = status.carriers
    assert carrier.blocked.endswith("it is too large; 11 more items can't be published"), carrier
    assert carrier.blocked.startswith("film-"), carrier
    assert len(carrier.troubled.first) == TROUBLES_SHOWN


def test_a_ledger_that_can_not_be_read(tmp_path: Path) -> None:
    """It says so from the start, where nothing else is known yet."""
    damaged = tmp_path / "ledger" / "work" / "bad-work-ledger-x"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("this is no segment")
    workflow = Workflow("bad")
    workflow.queue("work", workflow.source("films"))
    status = said(workflow, tmp_path, ItemsSource(["a"]), lambda status: bool(status.queues))
    (queue,) = status.queues
    assert queue.blocked == "its ledger can't be read: bad-work-ledger-x is not a segment of a ledger"
    assert not queue.knows


def test_a_source_that_is_down_and_who_waits_for_it(tmp_path: Path) -> None:
    workflow = Workflow("bad")
    films = workflow.source("films")
    workflow.queue("near", films)
    workflow.queue("far", workflow.filter("some", films, "true"))

    def hang_up(request: str, connection: socket.socket) -> None:
        """Without a word."""

    with server(hang_up) as url:
        status = said(
            workflow,
            tmp_path,
            HttpSource(url, QUICK.request),
            lambda status: bool(status.sources) and not status.sources[0].up,
        )
    assert status.sources[0].problem.endswith(
        "it closed the connection without a word; nothing new of it comes to near, far"
    )


def test_what_waits_for_another_attempt_says_why(tmp_path: Path) -> None:
    workflow = Workflow("again")
    workflow.queue("work", workflow.source("names"))
    files = {"work": queue_files("work", "exit 3", retries=1)}

    async def scenario() -> None:
        periods = replace(QUICK, backoff=600.0, backoff_limit=600.0)
        async with managed(workflow, tmp_path, files, {"names": ["a"]}, periods) as manager:
            status = await manager.until(lambda now: any(each.retrying.count for each in now.queues))
            (queue,) = status.queues
            assert (queue.waiting, queue.blocked) == (1, "")
            assert queue.retrying == Troubled(1, (Trouble("a", "exit code 3"),))

    asyncio.run(scenario())
