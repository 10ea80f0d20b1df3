"""Whatever an item is called and holds, it comes through server and client as it went in."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from wqc.contract.expression import compile_expression
from wqc.patterns.filter import Filter
from wqc.patterns.item import Failed, Item, Pattern
from wqc.patterns.sharder import Sharder
from wqc.patterns.splitter import OTHERWISE, Splitter
from wqc.runtime.ambassador.api import SourceApi
from wqc.runtime.ambassador.patterns import Node, Output
from wqc.runtime.httpserver import HttpServer, on_loop
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.items import ItemsSource

# surrogates alone too, which JSON can say and UTF-8 can't
NAMES = st.text(st.characters(), min_size=1, max_size=40)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


async def through_http(items: Mapping[str, Any]) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    api = SourceApi({"": ItemsSource(dict(items))})
    server = HttpServer("127.0.0.1", 0, lambda request: on_loop(loop, api.answer(request), 10))
    source = HttpSource(f"http://127.0.0.1:{server.port}", 10)
    try:
        listing = await source.list()
        return {name: json.loads(await source.get(name)) for name in listing.versions}
    finally:
        await source.close()
        server.close()


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(NAMES, DATA, max_size=5))
def test_items_come_through_as_they_are(items: dict[str, Any]) -> None:
    came = asyncio.run(through_http(items))
    assert list(came) == list(items)
    assert json.dumps(came) == json.dumps(items)


PATTERNS: dict[str, tuple[Pattern, tuple[str, ...]]] = {
    "filter": (Filter(compile_expression("item.data > 0")), ("", "failed")),
    "splitter": (
        Splitter(
            (
                ("small", compile_expression("item.data < 3")),
                ("even", compile_expression("item.data % 2 == 0")),
            ),
            drop=False,
        ),
        ("small", "even", OTHERWISE, "failed"),
    ),
    "sharder": (Sharder(compile_expression("item.data"), ("a", "b", "c")), ("a", "b", "c", "failed")),
}


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(sorted(PATTERNS)),
    st.dictionaries(NAMES, st.integers(-5, 5) | st.text(max_size=3) | st.none(), max_size=40),
)
def test_a_node_sends_what_its_pure_function_says(kind: str, items: dict[str, Any]) -> None:
    pattern, outputs = PATTERNS[kind]
    expected: dict[str, list[str]] = {output: [] for output in outputs}
    for name, data in items.items():
        step = pattern.route(Item(name, "", data))
        for output in ("failed",) if isinstance(step, Failed) else (sent.output for sent in step):
            expected[output].append(name)

    async def found() -> dict[str, list[str]]:
        node = Node(ItemsSource(items), pattern)
        streams = {output: Output(node, output) for output in outputs}
        listed = {output: list((await stream.list()).versions) for output, stream in streams.items()}
        for output, names in listed.items():
            for name in names:
                data = json.loads(await streams[output].get(name))
                assert (data["item"]["data"] if output == "failed" else data) == items[name]
        return listed

    assert asyncio.run(found()) == expected
