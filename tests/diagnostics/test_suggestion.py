"""A misspelt word gets the nearest legal one, or none."""

import time

import pytest

from wqc.diagnostics.suggestion import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("paralelism", ["retries", "parallelism"], "parallelism"),
        ("paralleilsm", ["retries", "parallelism"], "parallelism"),
        ("secrt", ["pvc", "secret", "config_map"], "secret"),
        ("conigMap", ["pvc", "secret", "config_map"], "config_map"),
        ("hostnetwork", ["hostNetwork"], "hostNetwork"),
        ("QUEUE", ["queue"], "queue"),
        ("que", ["queue", "batch"], "queue"),
        ("int", ["string", "integer", "integer_range"], "integer"),
        ("priorityClas", ["priority", "priorityClassName"], "priorityClassName"),
        ("nme", ["name"], "name"),
        ("mane", ["made", "name", "main"], "made"),
        ("form", ["from"], "from"),
        ("WQ999", ["WQ905"], ""),
        ("hostNetwrk", ["hostIPC", "hostUsers"], ""),
        ("kk", ["k"], ""),
        ("a", ["b", "ab"], ""),
        ("in", ["int", "integer"], "int"),
        ("word", [], ""),
    ],
)
def test_the_nearest(word: str, known: list[str], meant: str) -> None:
    assert nearest(word, known) == meant


def test_what_is_near_nothing_gets_the_list() -> None:
    assert did_you_mean("hostNetwrk", ["hostIPC", "hostUsers"]) == "there is `hostIPC`, `hostUsers`"
    assert did_you_mean("hostUser", ["hostIPC", "hostUsers"]) == "did you mean `hostUsers`?"


def test_long_words_take_no_time() -> None:
    begin = time.perf_counter()
    assert nearest("a" * 100_000, ["a" * 99_999, "b"]) == ""
    assert time.perf_counter() - begin < 1
