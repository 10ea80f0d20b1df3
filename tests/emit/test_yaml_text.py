"""YAML as it is written here: read back as what it was, by YAML 1.1 and 1.2 alike."""

import io
from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from wqc.emit.yaml_text import literal, mapping_lines, nested, scalar


def both(text: str) -> tuple[Any, Any]:
    """What PyYAML (1.1) and ruamel (1.2) read."""
    return yaml.safe_load(text), YAML(typ="safe", pure=True).load(io.StringIO(text))


RETYPED = (
    *("no", "Yes", "on", "OFF", "y", "N", "true", "False", "null", "Null", "~", ""),
    *(
        "1",
        "0777",
        "0o17",
        "0x1F",
        "0b1",
        "1_000",
        "1e3",
        "1E5",
        "1.0",
        ".5",
        "-1",
        "+1",
        "1.",
        "-.inf",
        ".NaN",
    ),
    *("12:30", "190:20:30", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5"),
    *(
        "=",
        "<<",
        "---",
        "...",
        "--- a",
        "-",
        "?",
        ":",
        "- a",
        "? a",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "%a",
        "@a",
        "`a",
    ),
    *(
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "'a'",
        '"a"',
        "[a]",
        "{a}",
        "a]",
        " a",
        "a ",
        "\ta",
        "a\t",
        "a\nb",
        "a\\nb",
        "a'b\"c",
    ),
    *("\0", "\x07", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "\ufffe", "é", "\U0001f600"),
)
PLAIN = (
    *(
        "verify",
        "/etc/wqc",
        "kafka:9092",
        "https://example.com/a?b=c&d#e",
        "500m",
        "3Gi",
        "100m..1",
        "--port=8081",
    ),
    *("metadata.annotations['wqc/item']", "a b", "/*.mp4", "-ec", "$HOME", "v1.0-rc1"),
)


@pytest.mark.parametrize("text", RETYPED)
def test_what_yaml_would_retype_or_misread_stays_a_string(text: str) -> None:
    assert both(f"key: {scalar(text)}\n") == ({"key": text},) * 2
    assert both(f"{scalar(text)}: 1\n") == ({text: 1},) * 2
    assert both(f"key:{nested([text, 'x'], 2)}\n") == ({"key": [text, "x"]},) * 2


@pytest.mark.parametrize("text", PLAIN)
def test_what_reads_alike_has_no_quotes(text: str) -> None:
    assert scalar(text) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a'b", "a'b"),
        ("it's: so", '"it\'s: so"'),
        ('say "x": y', "'say \"x\": y'"),
        ("\\d+: y", "'\\d+: y'"),
        ("a\nb", '"a\\nb"'),
        ("no", '"no"'),
        (True, "true"),
        (3600.0, "3600"),
        (0.00001, "0.00001"),
        (1e22, "10000000000000000000000"),
        (Decimal("1.50"), "1.5"),
        (None, "null"),
    ],
)
def test_one_spelling(value: Any, written: str) -> None:
    assert scalar(value) == written


@given(st.text())
@example("\ud800")
def test_any_string_as_a_scalar(text: str) -> None:
    assert both(f"key: {scalar(text)}\n") == ({"key": text},) * 2
    assert both(f"- {scalar(text)}\n") == ([text],) * 2


LINES = st.lists(st.text(st.sampled_from("ab \t#:-|>'\"\\é\0\r\x85"), max_size=6), max_size=6)


@given(LINES.map("\n".join) | st.text(), st.sampled_from([2, 4, 10]))
@example("  a\nb\n", 4)
@example("\n\n  a\n", 2)
@example("a\n\n\n", 2)
@example("   \na", 2)
@example("a\n   ", 2)
@example("\ta\n", 2)
@example("# a\nb", 2)
def test_any_string_as_a_literal(text: str, indent: int) -> None:
    spaces = " " * (indent - 2)
    lines = [f"{' ' * depth}k:" for depth in range(0, indent - 2, 2)]
    document = "\n".join([*lines, f"{spaces}key: {literal(text, indent)}", f"{spaces}after: 1", ""])
    for read in both(document):
        for _ in lines:
            read = read["k"]
        assert read == {"key": text, "after": 1}


@pytest.mark.parametrize("text", ["a\nb\n", "a", "a\n\nb", "  a\nb", "a\n\n"])
def test_plain_lines_stay_readable(text: str) -> None:
    assert literal(text, 2).startswith("|")


SCALARS = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(max_size=12)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), DATA, min_size=1, max_size=4))
def test_nested_data_is_read_as_it_was(data: dict[str, Any]) -> None:
    text = "\n".join(mapping_lines(data)) + "\n"
    assert both(text) == (data, data)
    indented = "top:" + nested(data, 4) + "\nafter: 1\n"
    assert both(indented) == ({"top": data, "after": 1},) * 2


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_stay_numbers(number: float) -> None:
    first, second = both(f"key: {scalar(number)}\n")
    assert float(first["key"]) == float(second["key"]) == number
