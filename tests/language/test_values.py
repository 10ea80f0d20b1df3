"""Each type reads its values, and says what it can't read."""

import pytest

from support.findings import checked, lines

HEAD = 'workflow w\nsource s: items { items = ["a"] }\n'


def worker(attributes: str) -> str:
    return HEAD + f'worker k {{ image = "r/k:1", {attributes} }}\nqueue q {{ from = s, worker = k }}\n'


def queue(attributes: str) -> str:
    return HEAD + f'worker k {{ image = "r/k:1" }}\nqueue q {{ from = s, worker = k, {attributes} }}\n'


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("500m", "500m"),
        ("2", "2"),
        ("0.5", "500m"),
        ("1000m", "1"),
        ("500m..2", "500m..2"),
        ("1..1000m", "1"),
    ],
)
def test_cpu(written: str, read: str) -> None:
    workflow = checked(worker(f"cpu = {written}")).workflow
    assert workflow is not None
    assert str(workflow.workers["k"].cpu) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("512Mi", "512Mi"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1G", "1000000000"),
        ("2k", "2000"),
        ("128Mi..1Gi", "128Mi..1Gi"),
    ],
)
def test_memory(written: str, read: str) -> None:
    workflow = checked(worker(f"memory = {written}")).workflow
    assert workflow is not None
    assert str(workflow.workers["k"].memory) == read


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("30s", 30), ("1h30m", 5400), ("800ms", 0.8), ("1.5s", 1.5), ("2d", 172_800), ("5us", 0.000005)],
)
def test_duration(written: str, seconds: float) -> None:
    workflow = checked(worker(f"takes = {written}")).workflow
    assert workflow is not None
    takes = workflow.workers["k"].takes
    assert takes is not None
    assert takes.seconds == seconds


@pytest.mark.parametrize(
    ("attributes", "finding"),
    [
        (
            "memory = 512m",
            "WQ209 3:38 `memory` takes an amount of memory such as `512Mi`, and `512m` is none",
        ),
        ("memory = 512", "WQ209 3:38 `memory` takes an amount of memory such as `512Mi`, and `512` is none"),
        ("cpu = 2Gi", "WQ209 3:35 `cpu` takes a number of cores such as `2` or `500m`, and `2Gi` is none"),
        (
            "cpu = 0.0005",
            "WQ209 3:35 `cpu` takes a number of cores such as `2` or `500m`, and `0.0005` is none",
        ),
        ("takes = 30", "WQ209 3:37 `takes` takes a duration such as `30s`, and `30` is none"),
        ("takes = 0s", "WQ210 3:37 `takes` must be longer than nothing, and `0s` isn't"),
        (
            "takes = 24855d3h14m8s",
            "WQ210 3:37 `takes` must be at most 2147483647s (68 years), and `24855d3h14m8s` isn't",
        ),
        ("input = stdout", "WQ208 3:37 `input` takes `file` or `stdin`, not the name `stdout`"),
        ('input = "stdin"', "WQ208 3:37 `input` takes `file` or `stdin`, not a string"),
        ("command = []", "WQ210 3:39 `command` must be a list of at least one entry, and `[]` isn't"),
        (
            'mounts = { "media" = pvc("m") }',
            "WQ238 3:40 a key of `mounts` must be an absolute path, and `media` isn't",
        ),
        ('mounts = { "/m" = pvc() }', "WQ240 3:47 `pvc(name)` needs its `name` here: the claim's name"),
        ('mounts = { "/m" = pvc("m", readonly = true) }', "WQ203 3:56 `pvc` has no attribute `readonly`"),
        (
            'mounts = { "/m" = nfs("m") }',
            "WQ208 3:47 `mounts./m` takes `pvc(…)`, `secret(…)` or `config_map(…)`, not a call of `nfs`",
        ),
        ('env = { A = "x", A = "y" }', "WQ206 3:46 `A` is given twice"),
        (
            'env = { A = secret("s") }',
            "WQ240 3:41 `secret(name, key)` needs its `key` here: one key of it",
        ),
        (
            "env = { A = 1 }",
            "WQ208 3:41 `env.A` takes a string, a script, `secret(…)` or `config_map(…)`, not the number `1`",
        ),
    ],
)
def test_worker_findings(attributes: str, finding: str) -> None:
    assert lines(worker(attributes)) == [finding]


@pytest.mark.parametrize(
    ("attributes", "finding"),
    [
        ("retries = 101", "WQ210 4:43 `retries` must be from 0 to 100, and `101` isn't"),
        ("retries = 1.5", "WQ208 4:43 `retries` takes a whole number, not the number `1.5`"),
        ("retries = 3s", "WQ208 4:43 `retries` takes a whole number, not the measure `3s`"),
        ("parallelism = 9..1", "WQ211 4:47 the range of `parallelism` ends below its start"),
        ("parallelism = 1..many", "WQ208 4:50 `parallelism` takes a whole number, not the name `many`"),
        ("poison = [0]", "WQ210 4:43 `poison` must be from 1 to 255, and `0` isn't"),
        ("failure_rate = 1.5", "WQ210 4:48 `failure_rate` must be from 0 to 0.99, and `1.5` isn't"),
        ("paused = yes", "WQ208 4:42 `paused` takes `true` or `false`, not the name `yes`"),
    ],
)
def test_queue_findings(attributes: str, finding: str) -> None:
    assert lines(queue(attributes)) == [finding]


def test_an_item_is_listed_once() -> None:
    written = 'items { items = ["a", "b", "a", "b"] }'
    text = (
        "workflow w\nsource s: "
        + written
        + '\nworker k { image = "k:1" }\nqueue q { from = s, worker = k }\n'
    )
    assert lines(text) == ['WQ206 2:38 `"a"` is given twice', 'WQ206 2:43 `"b"` is given twice']


def test_every_attribute_is_read_although_others_are_wrong() -> None:
    found = lines(queue("retries = x, timeout = 3, paralelism = 4, result = maybe"))
    assert sorted(line[:5] for line in found) == ["WQ203", "WQ208", "WQ208", "WQ209"]
