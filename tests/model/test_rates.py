"""How much flows where."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.findings import checked
from wqc.model.flow import Flow
from wqc.model.nodes import Copier, Filter, Merger, Queue, Sharder, Source, Splitter, StreamRef
from wqc.model.rates import attempts_per_item

HEAD = """workflow w
source s: http { url = "https://example.com", arrives = 2s }
worker k { image = "r/k:1", takes = 10s }
"""


def flow_of(nodes: str) -> Flow:
    flow = checked(HEAD + nodes).flow
    assert flow is not None
    return flow


def rates(nodes: str) -> dict[str, float]:
    return {str(stream): round(rate, 9) for stream, rate in flow_of(nodes).rates.items()}


def test_filters_splitters_copiers() -> None:
    found = rates(
        "copier c { from = s }\n"
        "filter f { from = c, where = item.name == 'x', share = 0.4 }\n"
        "splitter p { from = c, cases = { x = item.name == 'x', y = item.name == 'y' },"
        " share = { x = 0.25 } }\n"
    )
    assert found == {
        "s": 0.5,
        "s.failed": 0,
        "c": 0.5,
        "f": 0.2,
        "f.failed": 0,
        "p.x": 0.125,
        "p.y": 0.5,
        "p.otherwise": 0,
        "p.failed": 0,
    }


def test_otherwise_gets_what_the_cases_leave() -> None:
    found = rates(
        "splitter p { from = s, cases = { x = item.name == 'x', y = item.name == 'y' },"
        " share = { x = 0.25, y = 0.35 } }\n"
    )
    assert found["p.otherwise"] == pytest.approx(0.2)


def test_lanes_and_a_queue_read_whole() -> None:
    found = rates(
        "sharder h { from = s, key = item.name, shards = [a, b, c, d] }\n"
        "queue q { from = h, worker = k, failure_rate = 0.5, retries = 1 }\n"
        "queue r { from = q, worker = k }\n"
        "queue t { from = q.a.failed, worker = k }\n"
    )
    assert found["h.d"] == 0.125
    assert found["q.a"] == 0.09375
    assert found["q.a.failed"] == 0.03125
    assert found["r"] == 0.375
    assert found["t"] == 0.03125


def test_a_bundle_of_sources_through_a_filter_and_a_merger() -> None:
    found = rates(
        'source b: http { each = { x = "https://x", y = "https://y" }, url = each, arrives = 4s }\n'
        "filter f { from = b, where = item.name == 'x', share = 0.5 }\n"
        "merger m { from = [f, s] }\n"
    )
    assert (found["b.y"], found["f.x"], found["m"]) == (0.25, 0.125, 0.75)


def test_unknown_stays_unknown_downstream() -> None:
    flow = flow_of(
        'source u: http { url = "https://u" }\n'
        "merger m { from = [s, u] }\n"
        "queue q { from = m, worker = k }\n"
        "queue r { from = s.failed, worker = k }\n"
    )
    known = [str(stream) for stream in flow.rates]
    assert known == ["s", "s.failed", "r", "r.failed"]
    assert flow.arriving(StreamRef("m")) == {"": None}


def test_a_list_gets_no_new_items() -> None:
    assert rates('source l: items { items = ["a", "b"] }\nqueue q { from = l, worker = k }\n')["q"] == 0


def test_a_cycle_and_what_follows_have_none() -> None:
    found = rates(
        "merger m { from = [s, q] }\n"
        "queue q { from = m, worker = k }\n"
        "queue r { from = q.failed, worker = k }\n"
    )
    assert found == {"s": 0.5, "s.failed": 0}


@pytest.mark.parametrize(("failure_rate", "retries"), [(0.0, 3), (0.5, 0), (0.3, 4), (0.99, 20)])
def test_attempts_agree_with_trying(failure_rate: float, retries: int) -> None:
    flow = flow_of(
        f"queue q {{ from = s, worker = k, failure_rate = {failure_rate}, retries = {retries} }}\n"
    )
    queue = flow.workflow.nodes["q"]
    assert isinstance(queue, Queue)
    dice, attempts, failed, items = random.Random(7), 0, 0, 40_000
    for _ in range(items):
        for attempt in range(retries + 1):
            attempts += 1
            if dice.random() >= failure_rate:
                break
            failed += attempt == retries
    assert attempts_per_item(queue) == pytest.approx(attempts / items, rel=0.03)
    assert flow.rates[StreamRef("q", "failed")] == pytest.approx(0.5 * failed / items, rel=0.05, abs=1e-3)


@st.composite
def workflows(draw: st.DrawFn) -> str:
    """Random graphs without cycles, declared in any order."""
    blocks: list[str] = []
    streams: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        arrives = draw(st.integers(1, 50))
        blocks.append(f'source s{number}: http {{ url = "https://e", arrives = {arrives}s }}')
        streams.append(f"s{number}")
    for number in range(draw(st.integers(1, 12))):
        stream = streams.pop(draw(st.integers(0, len(streams) - 1)))
        kind = draw(st.sampled_from(("copier", "filter", "splitter", "sharder", "merger", "queue")))
        name = f"n{number}"
        share = draw(st.integers(0, 100)) / 200
        match kind:
            case "copier":
                blocks.append(f"copier {name} {{ from = {stream} }}")
                streams += [name, name]
            case "filter":
                blocks.append(
                    f"filter {name} {{ from = {stream}, where = item.name == 'x', share = {share} }}"
                )
                streams.append(name)
            case "splitter":
                cases = "cases = { x = item.name == 'x', y = item.name == 'y' }"
                blocks.append(
                    f"splitter {name} {{ from = {stream}, {cases}, share = {{ x = {share}, y = 0.3 }} }}"
                )
                streams += [f"{name}.x", f"{name}.y", f"{name}.otherwise"]
            case "sharder":
                blocks.append(f"sharder {name} {{ from = {stream}, key = item.name, shards = [a, b, c] }}")
                streams += [f"{name}.a", f"{name}.b", f"{name}.c"]
            case "merger":
                other = streams.pop() if streams else ""
                blocks.append(f"merger {name} {{ from = [{', '.join(filter(None, (stream, other)))}] }}")
                streams.append(name)
            case "queue":
                failing = f"failure_rate = {share}, retries = 2"
                blocks.append(f"queue {name} {{ from = {stream}, worker = k, {failing} }}")
                streams += [name, f"{name}.failed"]
    draw(st.randoms(use_true_random=False)).shuffle(blocks)
    return "\n".join(blocks) + "\n"


@settings(max_examples=150, deadline=None)
@given(workflows())
def test_what_enters_a_node_leaves_it(blocks: str) -> None:
    flow = checked('workflow w\nworker k { image = "r/k:1", takes = 1s }\n' + blocks).flow
    assert flow is not None
    assert not flow.cycles
    assert len(flow.order) == len(flow.workflow.nodes)
    for name in flow.order:
        node = flow.workflow.nodes[name]
        out = sum(rate for stream, rate in flow.rates.items() if stream.node == name)
        match node:
            case Source(arrives=arrives):
                assert arrives is not None
                assert out == pytest.approx(1 / arrives.seconds)
            case Merger(sources=sources):
                assert out == pytest.approx(sum(known(flow, source) for source in sources))
            case Filter(source=source, share=share):
                dropped = known(flow, source) * (1 - share)
                assert out + dropped == pytest.approx(known(flow, source))
            case (
                Copier(source=source)
                | Sharder(source=source)
                | Splitter(source=source)
                | Queue(source=source)
            ):
                assert out == pytest.approx(known(flow, source))


def known(flow: Flow, stream: StreamRef) -> float:
    (rate,) = flow.arriving(stream).values()
    assert rate is not None
    return rate
