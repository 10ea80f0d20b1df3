"""The client of the Source API against services that do what they shouldn't."""

import asyncio
import json
import socket
import time
from collections import Counter
from typing import Any

import pytest

from support.badserver import Behaviour, always, http, server
from support.ports import free_port
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError


def listing_of(behaviour: Behaviour, timeout: float = 5.0) -> Listing:
    with server(behaviour) as url:
        return asyncio.run(HttpSource(url, timeout).list())


def problem_of(behaviour: Behaviour, timeout: float = 5.0) -> str:
    with pytest.raises(SourceError) as caught:
        listing_of(behaviour, timeout)
    return str(caught.value).partition("/api/v1/items")[2].strip()


def item_list(*names: str, **more: Any) -> bytes:
    return http(200, json.dumps({"kind": "ItemList", "apiVersion": "v1", "items": names} | more))


def test_a_plain_listing() -> None:
    assert listing_of(always(item_list("b", "a"))) == Listing({"b": "", "a": ""})


def test_duplicates_count_once_and_are_said() -> None:
    listing = listing_of(always(item_list("a", "b", "a")))
    assert list(listing.versions) == ["a", "b"]
    assert listing.notice == "a: it is listed more than once, which counts once"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (http(200, "<html>hi</html>", "text/html"), "doesn't answer with JSON, but with '<html>hi</html>'"),
        (http(500, '{"reason": "the table is locked"}'), "answers 500: the table is locked"),
        (http(502, "<h1>Bad gateway</h1>", "text/html"), "answers 502"),
        (http(404, ""), "answers 404"),
        (http(302, "", "text/html", "Location: http://127.0.0.1:1/"), "answers 302"),
        (http(200, "[]"), "doesn't answer with a JSON object, but with '[]'"),
        (http(200, '{"items": ["a"]}'), 'doesn\'t answer with {"kind": "ItemList", "items": [names…]}'),
        (item_list(""), 'doesn\'t answer with {"kind": "ItemList", "items": [names…]}'),
        (http(200, '{"kind": "ItemList", "items": [1]}'), 'doesn\'t answer with {"kind": "ItemList"'),
        (item_list("a", versions=["1"]), ": the listing's `versions` isn't a map from names to strings"),
        (item_list("a", leftOut="1"), ": the listing's `leftOut` isn't a number of items"),
        (http(200, '{"kind": "ItemList", "items": [NaN]}'), "doesn't answer with JSON"),
        (item_list("a", **{"continue": "again"}), "never comes to its last page"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "can't be reached: the answer broke off"),
        (b"\x16\x03\x01\x02", "can't be reached: it doesn't speak HTTP"),
        (b"", "can't be reached: it closed the connection without a word"),
    ],
)  # fmt: skip
def test_what_is_no_listing(reply: bytes, said: str) -> None:
    assert problem_of(always(reply)).startswith(said)


def hangs(request: str, connection: socket.socket) -> None:
    time.sleep(60)


def drips(request: str, connection: socket.socket) -> None:
    connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
    )
    while True:
        connection.sendall(b" ")
        time.sleep(0.05)


def never_ends_its_headers(request: str, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.05)


@pytest.mark.parametrize("behaviour", [hangs, drips, never_ends_its_headers])
def test_a_service_can_not_stretch_the_time(behaviour: Behaviour) -> None:
    started = time.monotonic()
    assert problem_of(behaviour, timeout=0.5) == "gave no complete answer within 0.5 s"
    assert time.monotonic() - started < 3


def test_a_service_that_hangs_holds_up_no_other_source() -> None:
    async def both(bad: str, good: str) -> Listing:
        hanging = [asyncio.create_task(HttpSource(bad, 30).list()) for _ in range(50)]
        await asyncio.sleep(0.2)
        listing = await asyncio.wait_for(HttpSource(good, 5).list(), 5)
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)
        return listing

    with server(hangs) as bad, server(always(item_list("a"))) as good:
        assert asyncio.run(both(bad, good)) == Listing({"a": ""})


def test_nobody_listens() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(SourceError, match=r"can't be reached: Connection refused$"):
        asyncio.run(HttpSource(url, 5).list())


def test_a_name_that_can_not_be_resolved() -> None:
    with pytest.raises(SourceError, match=r"can't be reached: its name can't be resolved$"):
        asyncio.run(HttpSource("http://nowhere.invalid", 5).list())


def test_more_than_is_reasonable() -> None:
    def floods(request: str, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b" " * (1 << 20))

    assert problem_of(floods, 60).startswith("sends more than")


def test_listed_and_then_not_there() -> None:
    def answer(request: str, connection: socket.socket) -> None:
        connection.sendall(item_list("a") if "/items HTTP" in request else http(404, '{"reason": "gone"}'))

    async def ask(url: str) -> None:
        source = HttpSource(url, 5)
        assert list((await source.list()).versions) == ["a"]
        with pytest.raises(NoSuchItem):
            await source.get("a")

    with server(answer) as url:
        asyncio.run(ask(url))


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (http(200, '{"kind": "Item"}'), "gave the item without `data`"),
        (http(503, '{"reason": "not now"}'), "answers 503: not now"),
        (http(200, '{"kind": "Item", "data": Infinity}'), "doesn't answer with JSON"),
    ],
)
def test_what_is_no_item(reply: bytes, said: str) -> None:
    with server(always(reply)) as url, pytest.raises(SourceError, match=said) as caught:
        asyncio.run(HttpSource(url, 5).get("a"))
    assert not isinstance(caught.value, NoSuchItem)


def test_pages_of_a_listing_that_changes_under_way() -> None:
    asked: Counter[str] = Counter()

    def answer(request: str, connection: socket.socket) -> None:
        path = request.split()[1]
        asked[path] += 1
        if path == "/api/v1/items":
            connection.sendall(item_list("a", **{"continue": f"page-{asked[path]}"}))
        elif path.endswith("continue=page-1"):
            connection.sendall(http(410, '{"reason": "changed"}'))
        else:
            connection.sendall(item_list("b", versions={"b": "2"}))

    assert listing_of(answer) == Listing({"a": "", "b": "2"})
    assert asked["/api/v1/items"] == 2


def test_what_two_pages_list_counts_once_as_the_first_says() -> None:
    def answer(request: str, connection: socket.socket) -> None:
        more = {"continue": "next", "versions": {"a": "1"}}
        further = item_list("b", "a", versions={"a": "2"})
        connection.sendall(further if "continue" in request else item_list("a", **more))

    listing = listing_of(answer)
    assert list(listing.versions.items()) == [("a", "1"), ("b", "")]
    assert listing.notice == "a: it is listed more than once, which counts once"


def test_a_listing_that_never_holds_still() -> None:
    def answer(request: str, connection: socket.socket) -> None:
        more = {"continue": "next"}
        connection.sendall(http(410, "{}") if "continue" in request else item_list("a", **more))

    assert problem_of(answer) == "changes its listing from page to page"


def test_a_connection_that_was_closed_meanwhile_is_replaced() -> None:
    def answer(request: str, connection: socket.socket) -> None:
        body = b'{"kind": "ItemList", "items": ["a"]}'
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    async def twice(url: str) -> Listing:
        source = HttpSource(url, 5)
        await source.list()
        await asyncio.sleep(0.1)
        return await source.list()

    with server(answer) as url:
        assert asyncio.run(twice(url)) == Listing({"a": ""})
