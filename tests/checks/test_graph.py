"""Streams lead somewhere, and to one place only."""

import os
import subprocess
import sys

import pytest

from support.findings import advice, also, lines, places

HEAD = """workflow w
source s: items { items = ["a"] }
worker k { image = "r/k:1", takes = 10s }
"""


def test_a_cycle_begins_at_its_first_declared_node() -> None:
    text = HEAD + (
        "queue c { from = b, worker = k }\n"
        "merger a { from = [s, c] }\n"
        "filter b { from = a, where = item.name == 'x' }\n"
    )
    assert places(text, "WQ4") == [
        "WQ401 5:23 items would go round in a cycle: `c` → `a` → `b` → `c` <c>",
    ]
    assert also(text, "WQ401") == ["a: `b` reads `a`", "b: `c` reads `b`"]


def test_one_cycle_of_what_is_tied_up_and_the_shortest() -> None:
    text = HEAD + (
        "merger m { from = [s, x, y] }\n"
        "copier c { from = m }\n"
        "queue x { from = c, worker = k }\n"
        "queue z { from = c, worker = k }\n"
        "queue y { from = z, worker = k }\n"
    )
    assert places(text, "WQ4") == [
        "WQ401 5:19 items would go round in a cycle: `m` → `c` → `x` → `m` <m>",
    ]


def test_a_node_that_reads_itself() -> None:
    assert lines(HEAD + "queue p { from = s, worker = k }\nqueue q { from = q, worker = k }\n") == [
        "WQ404 5:18 no source reaches `q`: the cycle `q` → `q` has no way in",
    ]


def test_what_no_source_reaches_comes_with_what_follows() -> None:
    text = HEAD + (
        "queue p { from = s, worker = k }\n"
        "queue a { from = b, worker = k }\n"
        "queue b { from = a, worker = k }\n"
        "queue d { from = a.failed, worker = k }\n"
    )
    assert lines(text) == [
        "WQ404 6:18 no source reaches `a`, `b` and `d`: the cycle `a` → `b` → `a` has no way in",
    ]
    assert also(text, "WQ404") == ["b: `a` reads `b`"]


def test_two_readers_and_the_copier_to_write() -> None:
    text = HEAD + "queue p { from = s, worker = k }\nqueue q { from = s, worker = k }\n"
    assert places(text, "WQ4") == ["WQ402 5:18 `s` has 2 readers and no copier: `p` and `q` <s>"]
    assert also(text, "WQ402") == ["s: read by `p`"]
    assert advice(text, "WQ402") == [
        "a copier lets each of them have every item:",
        "copier s_copies { from = s }",
        "and read `s_copies` in `p` and `q`",
    ]


def test_the_copier_has_a_name_that_is_free() -> None:
    text = HEAD + (
        "queue p { from = s, worker = k }\nqueue s_copies { from = s, worker = k }\n"
        "queue q { from = p.failed, worker = k }\nqueue r { from = p.failed, worker = k }\n"
    )
    found = places(text, "WQ402")
    assert found == [
        "WQ402 5:25 `s` has 2 readers and no copier: `p` and `s_copies` <s>",
        "WQ402 7:18 `p.failed` has 2 readers and no copier: `q` and `r` <p.failed>",
    ]


@pytest.mark.parametrize("copied", [True, False])
def test_the_advice_is_right(copied: bool) -> None:
    """What the help says to write leaves nothing to report."""
    bundle = HEAD + "sharder h { from = s, key = item.name, shards = [a, b] }\n"
    if copied:
        text = bundle + (
            "copier h_copies { from = h }\n"
            "queue p { from = h_copies, worker = k }\nqueue q { from = h_copies.a, worker = k }\n"
        )
        assert lines(text) == []
    else:
        text = bundle + "queue p { from = h, worker = k }\nqueue q { from = h.a, worker = k }\n"
        assert places(text, "WQ4") == ["WQ402 6:18 `h` has 2 readers and no copier: `p` and `q` <h.a>"]
        assert advice(text, "WQ402")[1:] == [
            "copier h_copies { from = h }",
            "and read `h_copies` in `p`, `h_copies.a` in `q`",
        ]


def test_a_queue_read_whole_and_by_a_lane() -> None:
    text = HEAD + (
        "sharder h { from = s, key = item.name, shards = [a, b] }\nqueue o { from = h, worker = k }\n"
    )
    wrong = text + "queue p { from = o, worker = k }\nqueue q { from = o.b, worker = k }\n"
    assert places(wrong, "WQ4") == ["WQ402 7:18 `o` has 2 readers and no copier: `p` and `q` <o.b>"]
    blocks = advice(wrong, "WQ402")[1:-1]
    assert blocks == ["copier o_b_copies { from = o.b }", "merger o_merged { from = [o.a, o_b_copies] }"]
    assert advice(wrong, "WQ402")[-1] == "and read `o_merged` in `p`, `o_b_copies` in `q`"
    mended = (
        text
        + "\n".join(blocks)
        + ("\nqueue p { from = o_merged, worker = k }\nqueue q { from = o_b_copies, worker = k }\n")
    )
    assert lines(mended) == []


def test_one_member_with_two_readers_is_named() -> None:
    text = HEAD + (
        "sharder h { from = s, key = item.name, shards = [a, b] }\n"
        "queue p { from = h.a, worker = k }\n"
        "queue q { from = h.a, worker = k }\n"
        "queue r { from = h.b, worker = k }\n"
    )
    assert lines(text) == ["WQ402 6:18 `h.a` has 2 readers and no copier: `p` and `q`"]
    assert advice(text, "WQ402")[1:] == [
        "copier h_a_copies { from = h.a }",
        "and read `h_a_copies` in `p` and `q`",
    ]


def test_a_merger_that_lists_a_stream_twice() -> None:
    text = HEAD + "merger m { from = [s, s] }\nqueue q { from = m, worker = k }\n"
    assert lines(text) == ["WQ402 4:23 `m` reads `s` twice"]


def test_a_copier_may_have_many_readers() -> None:
    assert (
        lines(HEAD + "copier c { from = s }\nmerger m { from = [c, c] }\nqueue q { from = m, worker = k }\n")
        == []
    )


@pytest.mark.parametrize(
    ("nodes", "findings"),
    [
        ("", ["WQ403 2:8 nothing reads `s` <s>"]),
        ("copier c { from = s }\n", ["WQ403 4:8 nothing reads `c` <c>"]),
        ("filter f { from = s, where = item.name == 'x' }\n", ["WQ403 4:8 nothing reads `f` <f>"]),
        (
            "merger m { from = [s] }\n",
            ["WQ403 4:8 nothing reads `m` <m>", "WQ405 4:8 this merger has a single input, `s` <m>"],
        ),
        ("queue q { from = s, worker = k }\n", []),
        ("queue q { from = s, worker = k }\nqueue r { from = q.failed, worker = k }\n", []),
    ],
)
def test_only_what_is_done_or_failed_may_stay_unread(nodes: str, findings: list[str]) -> None:
    assert places(HEAD + nodes, "WQ4") == findings


def test_cases_and_members_without_a_reader() -> None:
    text = HEAD + (
        "splitter p { from = s, cases = { x = item.name == 'x', y = item.name == 'y' } }\n"
        "sharder h { from = p.x, key = item.name, shards = [a, b, c] }\n"
        "queue q { from = h.b, worker = k }\n"
    )
    assert places(text, "WQ4") == [
        "WQ403 4:10 nothing reads `p.otherwise` <p>",
        "WQ403 4:56 nothing reads `p.y` <y>",
        "WQ403 5:9 nothing reads `h.a` or `h.c` <h>",
    ]


def test_otherwise_may_be_dropped_and_then_not_read() -> None:
    dropped = HEAD + "splitter p { from = s, cases = { x = item.name == 'x' }, otherwise = drop }\n"
    assert lines(dropped + "queue q { from = p.x, worker = k }\n") == []
    text = dropped + "queue q { from = p.x, worker = k }\nqueue r { from = p.otherwise, worker = k }\n"
    assert places(text, "WQ4") == [
        "WQ412 6:18 there is no `p.otherwise`: its items are dropped <p.otherwise>"
    ]
    assert also(text, "WQ412") == ["drop: here"]


def test_needless_nodes() -> None:
    merger = HEAD + "merger m { from = [s] }\nqueue q { from = m, worker = k }\n"
    assert places(merger, "WQ4") == ["WQ405 4:8 this merger has a single input, `s` <m>"]
    copier = HEAD + "copier c { from = s }\nqueue q { from = c, worker = k }\n"
    assert places(copier, "WQ4") == ["WQ406 4:8 this copier has a single reader, `q` <c>"]
    assert advice(copier, "WQ406") == ["let `q` read `s` itself"]
    bundle = (
        'workflow w\nsource s: git { each = { a = "https://a", b = "https://b" }, url = each }\n'
        'worker k { image = "r/k:1" }\n'
    )
    assert places(bundle + "merger m { from = s }\nqueue q { from = m, worker = k }\n", "WQ4") == []


def test_a_bundle_where_one_stream_is_read() -> None:
    text = HEAD + (
        "sharder h { from = s, key = item.name, shards = [a, b] }\n"
        "sharder i { from = h, key = item.name, shards = [c, d] }\n"
        "queue q { from = i, worker = k }\n"
    )
    assert places(text, "WQ4") == [
        "WQ407 5:20 a sharder reads one stream, and `h` is a bundle of 2: `a` and `b` <h>"
    ]
    assert advice(text, "WQ407")[1] == "merger h_merged { from = h }"


def test_a_batch_reads_one_member_of_a_bundle() -> None:
    text = (
        "workflow w\n"
        'source s: rabbitmq { each = { a = "a", b = "b" }, brokers = "mq:5672", queue = each }\n'
        'worker k { image = "r/k:1", command = ["k"] }\n'
        "batch x: coarse { from = s, worker = k, completions = 1 }\n"
    )
    assert places(text, "WQ407") == [
        "WQ407 4:26 a batch reads one stream, and `s` is a bundle of 2: `a` and `b` <s>"
    ]
    assert advice(text, "WQ407") == [
        "let it read one of them, `s.a` say, and add a batch for each of the others"
    ]


def test_nothing_is_missing_from_what_is_not_understood() -> None:
    text = HEAD + "copier c { from = s }\nqueue q { from = c, worker = k, retries = -1 }\n"
    assert [line.split()[0] for line in lines(text)] == ["WQ210"]
    twice = text + "queue r { from = s, worker = k }\n"
    assert places(twice, "WQ4") == ["WQ402 6:18 `s` has 2 readers and no copier: `c` and `r` <s>"]


def test_a_long_cycle_is_told_by_its_ends() -> None:
    count = 300
    text = HEAD + f"merger n0 {{ from = [s, n{count - 1}] }}\n"
    text += "".join(f"copier n{each} {{ from = n{each - 1} }}\n" for each in range(1, count))
    (said,) = (each for each in places(text, "WQ401"))
    assert "cycle: `n0` → `n1` → `n2` → `n3` → `n4` → `n5` → 289 more → `n295` → " in said
    assert said.endswith("→ `n299` → `n0` <n0>")
    assert len(also(text, "WQ401")) == 12


CYCLES = HEAD + "".join(
    f"merger {name} {{ from = [{', '.join(read)}] }}\n"
    for name, read in (
        ("n_one", ("s", "n_five", "n_two")),
        ("n_two", ("n_six", "n_three")),
        ("n_three", ("n_two", "n_four", "n_one")),
        ("n_four", ("n_three", "n_five")),
        ("n_five", ("n_four", "n_six")),
        ("n_six", ("n_one", "n_five")),
    )
)


def test_the_same_cycle_whatever_the_hash_seed() -> None:
    program = (
        "import sys; from wqc.diagnostics.source import Source; from wqc.pipeline import Options, check\n"
        "from wqc.diagnostics.text import render\n"
        "sys.stdout.write(render(check(Source('w.wq', sys.stdin.read()), Options()).findings))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=CYCLES,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    (text,) = said
    assert "items would go round in a cycle: `n_one` → `n_three` → `n_two` → `n_one`" in text
    assert text.count("WQ401") == 1
