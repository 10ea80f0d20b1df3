"""The order of findings."""

from itertools import permutations

from wqc.diagnostics.finding import Finding, Level
from wqc.diagnostics.order import in_order
from wqc.diagnostics.source import Source, Span


def found(source: Source, start: int, code: str = "WQ999", message: str = "m") -> Finding:
    return Finding(code, Level.ERROR, message, Span(source, start, start + 1))


def test_by_file_place_and_code() -> None:
    main, library, other = (Source(name, "abcdef") for name in ("w.wq", "a.wq", "--param"))
    expected = (
        found(main, 1),
        found(main, 2, "WQ101"),
        found(main, 2, "WQ201"),
        found(main, 2, "WQ201", "n"),
        found(library, 0),
        found(other, 0),
    )
    for given in permutations(expected):
        assert in_order(given, ["w.wq", "a.wq"]) == expected


def test_the_same_of_two_copies_of_a_file_is_one() -> None:
    twice = [found(Source("lib.wq", "abc"), 1), found(Source("lib.wq", "abc"), 1)]
    assert len(in_order(twice, ["w.wq", "lib.wq", "lib.wq"])) == 1
