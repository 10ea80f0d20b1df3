"""The trees of well-formed files."""

from pathlib import Path
from typing import Any

import pytest

from support.trees import shape
from wqc.diagnostics.source import Source, Span
from wqc.language.parser import parse, parse_params, parse_value
from wqc.language.syntax import Block, Expression, String

ROOT = Path(__file__).parents[2]
NOTHING = ()


def name(text: str) -> Any:
    return ("Name", text)


def path(*names: str) -> Any:
    return ("Path", tuple(map(name, names)))


def number(text: str) -> Any:
    return ("Number", text)


def string(*parts: Any) -> Any:
    return ("String", parts)


def entry(key: str, value: Any) -> Any:
    return ("Entry", name(key), value)


def value(text: str) -> Any:
    parsed = parse_value(Span(Source("<value>", text), 0, len(text)))
    assert parsed.findings == ()
    return shape(parsed.value)


def block(text: str) -> Any:
    parsed = parse(Source("a.wq", text))
    assert parsed.findings == ()
    (statement,) = parsed.document.statements
    return shape(statement)


@pytest.mark.parametrize(
    "file",
    [*sorted((ROOT / "examples").glob("*.wq")), Path(__file__).parent / "samples" / "yard.wq"],
    ids=lambda file: file.name,
)
def test_examples_can_be_read(file: Path) -> None:
    assert parse(Source(file.name, file.read_text(encoding="utf-8"))).findings == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", number("3")),
        ("0.4", number("0.4")),
        ("-1", number("-1")),
        ("500m", ("Measure", "500m")),
        ("1h30m", ("Measure", "1h30m")),
        ("80Gi", ("Measure", "80Gi")),
        ("true", ("Constant", True)),
        ("null", ("Constant", None)),
        ("films", path("films")),
        ("item.data.x", path("item", "data", "x")),
        ("in_time", path("in_time")),
        ("1..20", ("Range", number("1"), number("20"))),
        ("500m..2", ("Range", ("Measure", "500m"), number("2"))),
        ("low..lib.high", ("Range", path("low"), path("lib", "high"))),
        ("0.5..1.5", ("Range", number("0.5"), number("1.5"))),
        ("[]", ("ListValue", NOTHING)),
        ("[a, 1,\n b,]", ("ListValue", (path("a"), number("1"), path("b")))),
        ("{}", ("MapValue", NOTHING)),
        ("{ a = 1, B = 2 }", ("MapValue", (entry("a", number("1")), entry("B", number("2"))))),
        ("{\na = 1\n\nb = 2,\n}", ("MapValue", (entry("a", number("1")), entry("b", number("2"))))),
        ('{ "k/ey" = 1 }', ("MapValue", (("Entry", string("k/ey"), number("1")),))),
        ("zone(a)", ("Call", name("zone"), (path("a"),), NOTHING)),
        (
            'pvc("media",\n  read_only = true,\n)',
            ("Call", name("pvc"), (string("media"),), (entry("read_only", ("Constant", True)),)),
        ),
        ("f()", ("Call", name("f"), NOTHING, NOTHING)),
        ('""', string()),
        (r'"a\"\\\n\t\u00e9"', string('a"\\\n\té')),
        ('"a${b}c${lib.d}"', string("a", name("b"), "c", name("lib.d"))),
        ('"$${a} $b {c}"', string("${a} $b {c}")),
        ('"# // \'"', string("# // '")),
        ('"""one line"""', ("Script", "one line")),
        ('"""\n    a\n      b\n\n    c "$d" \\n\n    """', ("Script", 'a\n  b\n\nc "$d" \\n\n')),
        ('"""first\n  rest"""', ("Script", "first\n  rest\n")),
        ('"""say ""twice"" """', ("Script", 'say ""twice"" ')),
        ('"""echo "hi""""', ("Script", 'echo "hi"')),
        ('"""x="""""', ("Script", 'x=""')),
        ('""""""', ("Script", "")),
    ],
)
def test_values(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "item.data.a == 1",
        'item.data.country in ["TW", "JP"]',
        "!item.data.a",
        "-item.data.a",
        "(item.data.a)",
        "item.data.a ? 1 : 2",
        "item.data.a || item.data.b ? [1] : {'a': 1}",
        "item.data.tags[0]",
        'item.name.startsWith("a\\d")',
        "item.data.tags.exists(t, t == 'x')",
        "has(item.data.a)",
        "size(item.data.tags)",
        "1e3 + 0x10 + .5 - 2u",
        r"""item.name.matches(r'^\d+$')""",
        r"""item.name == r"\"""",
        "item.data.a &&\n  item.data.b",
        "item.data.a\n  && item.data.b",
        "item.data.a  # why\n  in [1]",
        "{1: 'a'}[item.data.n] == 'a'",
        "'''a\nb''' == b'c'",
        "a.b(c)[d].e(f, g).h",
    ],
)
def test_conditions(text: str) -> None:
    span = Span(Source("<value>", text), 0, len(text))
    assert parse_value(span).value == Expression(span)
    assert parse_value(span).findings == ()


def test_blocks() -> None:
    bare = (NOTHING, None, None, None)
    assert block("workflow w") == ("Block", name("workflow"), name("w"), *bare)
    assert block("manager { cpu = 1 }") == (
        "Block", name("manager"), None, NOTHING, None, None, (entry("cpu", number("1")),)
    )  # fmt: skip
    assert block("param a: duration = 5m") == (
        "Block", name("param"), name("a"), NOTHING, path("duration"), ("Measure", "5m"), None
    )  # fmt: skip
    assert block("worker r(a, b): lib.f {\n}") == (
        "Block", name("worker"), name("r"), (name("a"), name("b")), path("lib", "f"), None, NOTHING
    )  # fmt: skip
    assert block('import "std:run" as lib') == ("Import", string("std:run"), name("lib"))


def test_words_are_no_keywords() -> None:
    assert block("import import { import = as, as = queue }")[1:3] == (name("import"), name("import"))


def test_spans() -> None:
    text = 'queue q: k {  # c\n  "a" = f(x, y = [1])\n}\n'
    document = parse(Source("a.wq", text)).document
    (queue,) = document.statements
    assert isinstance(queue, Block)
    assert queue.head.text == "queue q: k"
    assert queue.span.text == text.replace("\n}\n", "\n}")
    assert queue.attributes is not None
    (attribute,) = queue.attributes
    assert (attribute.span.text, attribute.key.span.text) == ('"a" = f(x, y = [1])', '"a"')
    assert attribute.value.span.text == "f(x, y = [1])"
    assert [(comment.text, comment.own_line) for comment in document.comments] == [("# c", False)]


def test_the_span_of_a_hole() -> None:
    parsed = parse_value(Span(Source("<value>", '"a${bc}"'), 0, 8)).value
    assert isinstance(parsed, String)
    hole = parsed.parts[1]
    assert not isinstance(hole, str)
    assert (hole.span.start, hole.span.text) == (4, "bc")


def test_a_value_within_a_text() -> None:
    source = Source("--param", "limit=1..5")
    parsed = parse_value(Span(source, 6, 10))
    assert parsed.value is not None
    assert parsed.value.span == Span(source, 6, 10)


@pytest.mark.parametrize("text", ["", " ", "# only", "1\n2", "1 2", "a =", "[", ")"])
def test_what_is_no_value(text: str) -> None:
    parsed = parse_value(Span(Source("<value>", text), 0, len(text)))
    assert parsed.value is None
    assert len(parsed.findings) == 1


def test_params() -> None:
    parsed = parse_params(Source("prod.wqp", '# production\nlimit = 5m\n\nlib.registry = "r"\n'))
    assert parsed.findings == ()
    assert shape(parsed.entries) == (entry("limit", ("Measure", "5m")), entry("lib.registry", string("r")))


def test_params_with_mistakes() -> None:
    parsed = parse_params(Source("prod.wqp", "a = \nb 3\nc = 1\nqueue q {\n  a = 1\n}\nd = 2\n"))
    assert [(finding.code, finding.span.line) for finding in parsed.findings] == [
        ("WQ131", 1),
        ("WQ135", 2),
        ("WQ135", 4),
    ]
    assert [item.key.span.text for item in parsed.entries] == ["a", "c", "d"]
