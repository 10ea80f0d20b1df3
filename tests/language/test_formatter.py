"""The one layout."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from strategies import documents
from support.trees import shape
from wqc.diagnostics.source import Source
from wqc.language.formatter import format_text
from wqc.language.parser import parse

SAMPLES = Path(__file__).parent / "samples"


def formatted(text: str) -> str:
    result = format_text(Source("a.wq", text))
    assert result.findings == ()
    return result.text


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.in.wq")), ids=lambda path: path.name)
def test_samples(path: Path) -> None:
    expected = path.with_name(path.name.replace(".in.", ".out.")).read_text(encoding="utf-8")
    assert formatted(path.read_text(encoding="utf-8")) == expected
    assert formatted(expected) == expected


def test_there_are_samples() -> None:
    assert len(list(SAMPLES.glob("*.in.wq"))) >= 3


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", ""),
        ("\n\n\n", ""),
        ("workflow   w", "workflow w\n"),
        ("budget{pods=1,cpu=2}", "budget { pods = 1, cpu = 2 }\n"),
        ("manager {\n}\n", "manager {}\n"),
        ("param a=-  1", "param a = -1\n"),
        ("param a = 1 ..2", "param a = 1..2\n"),
        ("param a = x . y", "param a = x.y\n"),
        ("param a = {}", "param a = {}\n"),
        ("param a = [1,2,]", "param a = [1, 2]\n"),
        ('param a = pvc( "x",read_only=true )', 'param a = pvc("x", read_only = true)\n'),
        ("param a = x  ==1&&y", "param a = x == 1 && y\n"),
        ("param a = x[ 0 ]", "param a = x[ 0 ]\n"),
        ('import "a.wq"   as b', 'import "a.wq" as b\n'),
        ("worker f( a,b ) { }", "worker f(a, b) {}\n"),
        ("source a:files { }", "source a: files {}\n"),
    ],
)
def test_one_line(written: str, expected: str) -> None:
    assert formatted(written) == expected


def test_too_long_for_a_line() -> None:
    entries = [f"attribute_{number} = {number}" for number in range(9)]
    long = "queue q { " + ", ".join(entries) + " }\n"
    assert formatted(long) == "queue q {\n" + "".join(f"  {entry}\n" for entry in entries) + "}\n"
    items = [f'"{"x" * 20}{number}"' for number in range(6)]
    assert formatted(f"param a = [{', '.join(items)}]") == (
        "param a = [\n" + "".join(f"  {item},\n" for item in items) + "]\n"
    )


def test_broken_files_stay_as_they_are() -> None:
    text = "queue  q {\n  a = \n}\n"
    result = format_text(Source("a.wq", text))
    assert result.text == text
    assert [finding.code for finding in result.findings] == ["WQ131"]


@settings(deadline=None, max_examples=200)
@given(documents())
def test_meaning_and_comments_stay(text: str) -> None:
    source = Source("a.wq", text)
    parsed = parse(source)
    assert parsed.findings == ()
    once = formatted(text)
    again = parse(Source("a.wq", once))
    assert again.findings == ()
    assert shape(again.document) == shape(parsed.document)
    assert formatted(once) == once
    assert not any(line != line.rstrip() for line in once.split("\n") if '"""' not in text)


@pytest.mark.parametrize("name", ["thumbnails", "signup", "yard"])
def test_the_design_s_samples_move_little(name: str) -> None:
    path = SAMPLES / "yard.wq" if name == "yard" else Path(__file__).parents[2] / "examples" / f"{name}.wq"
    text = path.read_text(encoding="utf-8")
    arranged = formatted(text)
    assert [re.sub(" +", " ", line) for line in arranged.split("\n")] == [
        re.sub(" +", " ", line) for line in text.split("\n")
    ]
