"""Params, their types, and the values that builds set."""

import pytest

from support.findings import checked, lines
from wqc.diagnostics.source import Source

QUEUE = """source s: items { items = ["a"] }
worker k { image = "${registry}/k:${tag}" }
queue q { from = s, worker = k, parallelism = size, timeout = limit }
"""
PARAMS = """workflow w
param registry = "r.example.com"
param tag: string
param size = 1..3
param limit: duration = 5m
"""


def test_values_from_a_file_and_from_the_command_line_later_ones_win() -> None:
    found = checked(
        PARAMS + QUEUE,
        params_files=(
            Source("prod.wqp", 'tag = "2"\nsize = 5\nlimit = 1h\n'),
            Source("b.wqp", "size = 6..7\n"),
        ),
        params=(("tag", "3"), ("limit", "2h")),
    )
    assert [finding.message for finding in found.findings if finding.level.value == "error"] == []
    assert found.workflow is not None
    queue = found.workflow.nodes["q"]
    assert (queue.worker.image, str(queue.parallelism), str(queue.timeout)) == (
        "r.example.com/k:3",
        "6..7",
        "2h",
    )


@pytest.mark.parametrize(
    ("params", "findings"),
    [
        ((), ["WQ213 3:7 the param `tag` has no value"]),
        ((("tag", "1"), ("sise", "4")), ["WQ228 --param:1:1 there is no param `sise`"]),
        (
            (("tag", "1"), ("size", "many")),
            ["WQ208 --param:1:6 `size` takes a whole number, or a range `low..high`, not the name `many`"],
        ),
        (
            (("tag", "1"), ("limit", "5")),
            ["WQ209 --param:1:7 `limit` takes a duration such as `30s`, and `5` is none"],
        ),
    ],
)
def test_unset_unknown_and_ill_typed(params: tuple[tuple[str, str], ...], findings: list[str]) -> None:
    assert lines(PARAMS + QUEUE, params=params) == findings


def test_a_value_that_does_not_fit_its_use_points_at_the_param_too() -> None:
    text = 'workflow w\nparam n = "three"\nsource s: items { items = ["a"] }\nworker k { image = "r/k:1" }\n'
    (finding,) = (
        finding
        for finding in checked(text + "queue q { from = s, worker = k, retries = n }\n").findings
        if finding.level.value == "error"
    )
    assert finding.message == "`retries` takes a whole number, not a string"
    assert (finding.span.text, finding.also[0].span.text) == ("n", '"three"')


@pytest.mark.parametrize(
    ("default", "finding"),
    [
        ("5m", "WQ214 2:11 `5m` may be duration or cpu"),
        (
            "1s..2s",
            "WQ208 2:11 `p` takes a value of type string, integer, number, boolean, duration, cpu, memory,"
            " integer_range, cpu_range, memory_range, list or map, not a range",
        ),
        ("[x]", "WQ208 2:12 `p` takes literal data, not the name `x`"),
    ],
)
def test_defaults(default: str, finding: str) -> None:
    assert finding in lines(
        f"workflow w\nparam p = {default}\n" + QUEUE.replace("${registry}", "r").replace("${tag}", "1")
    )


def test_params_of_a_library_are_its_own() -> None:
    text = """import "lib.wq" as lib
workflow w
param tag = "mine"
source s: items { items = ["a"] }
queue q { from = s, worker = lib.k }
"""
    library = 'param tag = "theirs"\nworker k { image = "r/k:${tag}" }\n'
    for params, image in (
        ((), "r/k:theirs"),
        ((("lib.tag", "set"),), "r/k:set"),
        ((("tag", "set"),), "r/k:theirs"),
    ):
        workflow = checked(text, {"lib.wq": library}, params=params).workflow
        assert workflow is not None
        assert workflow.workers["lib.k"].image == image


def test_params_that_double_with_each_step() -> None:
    """The text stays small, what it stands for doesn't: a finding, at once, where it grows too large."""
    steps = "bcdefghijklmnopqrstuvwxyz"
    texts = 'param a = "0123456789"\n' + "".join(
        f'param {name} = "{f"${{{chr(ord(name) - 1)}}}" * 10}"\n' for name in steps
    )
    queue = (
        'workflow w\nsource src: items { items = [z] }\nworker wrk { image = "r/k:1" }\n'
        "queue que { from = src, worker = wrk }\n"
    )
    assert lines(texts + queue) == [
        "WQ239 7:11 with its params put in, this has more than 1,048,576 characters"
    ]
    empty = texts.replace("0123456789", "")
    assert lines(empty + queue.replace("[z]", '["b${z}"]')) == []
    lists = 'param a = ["x", "x"]\n' + "".join(
        f"param {name} = [{', '.join([chr(ord(name) - 1)] * 10)}]\n" for name in steps[:7]
    )
    found = lines(lists + queue.replace("[z]", "{ i = h }"))
    assert found == ["WQ239 6:11 with its params put in, this has more than 200,000 parts"]


def test_a_param_may_be_another_one_or_a_side_of_its_range() -> None:
    found = checked(
        "workflow w\nparam few = 2\nparam most = few\nparam size = 1..most\n"
        + 'param registry = "r.example.com"\nparam tag = "1"\nparam limit: duration = 5m\n'
        + QUEUE
    )
    assert [finding.message for finding in found.findings if finding.level.value == "error"] == []
    assert found.workflow is not None


def test_a_file_gives_each_param_one_value() -> None:
    given = Source("prod.wqp", 'tag = "2"\nsize = 3\nsize = 4\n')
    assert lines(PARAMS + QUEUE, params_files=(given,)) == ["WQ206 prod.wqp:3:1 `size` is given twice"]
