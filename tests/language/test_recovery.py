"""What is said of files that can't be read: exact places and words, one finding per mistake."""

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.trees import shape
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.source import Source, Span
from wqc.language.formatter import format_text
from wqc.language.parser import parse, parse_params, parse_value
from wqc.language.syntax import Block, Broken, Expression
from wqc.language.tables import PRODUCTIONS, STATES

BEFORE = "queue before { from = a }\n"
AFTER = "queue after { from = b }\n"


def findings(text: str) -> list[tuple[str, str, str, str]]:
    """Code, the text of the place, message and help."""
    found = parse(Source("a.wq", text)).findings
    return [(finding.code, finding.span.text, finding.message, finding.help) for finding in found]


def keys(block: Any) -> list[str]:
    return [entry.key.span.text for entry in block.attributes or ()]


def in_block(attribute: str) -> str:
    return f"{BEFORE}queue q {{\n  first = 1\n  {attribute}\n  last = 2\n}}\n{AFTER}"


NAMES = "names are lower-case words joined by `_`, and begin with a letter"

ATTRIBUTES = [
    ("a: 3", "WQ130", ":", "attributes are written with `=`", "write `a = …`"),
    ("a =", "WQ131", "=", "a value is missing after `=`", "write one, or remove what asks for it"),
    ("a = b &&", "WQ131", "&&", "a value is missing after `&&`", "write one, or remove what asks for it"),
    ("a = [b ==]", "WQ131", "==", "a value is missing after `==`", "write one, or remove what asks for it"),
    ("a = 1..", "WQ131", "..", "a value is missing after `..`", "write one, or remove what asks for it"),
    ("a = b.c = 1", "WQ132", "=", "`=` doesn't compare", "write `==`"),
    ("a = b and c", "WQ133", "and", "conditions have no `and`", "write `&&`"),
    ("a = b or c", "WQ133", "or", "conditions have no `or`", "write `||`"),
    ("a = not b", "WQ133", "not", "conditions have no `not`", "write `!`"),
    ("a = [b c]", "WQ134", "c", "a comma is missing before this", "write `b,`"),
    ('a = ["b"\n"c"]', "WQ134", '"c"', "a comma is missing before this", 'write `"b",`'),
    ("a = f(b c)", "WQ134", "c", "a comma is missing before this", "write `b,`"),
    ("a", "WQ135", "a", "`=` is missing after `a`", "write `a = …`"),
    ("a 3", "WQ135", "3", "`=` is missing after `a`", "write `a = …`"),
    ('a "b"', "WQ135", '"b"', "`=` is missing after `a`", "write `a = …`"),
    ("a { b = 1 }", "WQ135", "{", "`=` is missing after `a`", "write `a = …`"),
    ("a = [b,, c]", "WQ136", ",", "there is nothing before this comma", "remove it"),
    ("a = f(, c)", "WQ136", ",", "there is nothing before this comma", "remove it"),
    ("a = 1, , b = 2", "WQ136", ",", "there is nothing before this comma", "remove it"),
    ("a = 1 b = 2", "WQ137", "b", "a comma is missing before `b`", "write a comma, or go to a new line"),
    ("a = 5 m", "WQ105", "5 m", "`5 m` is not a number", "write `5m`"),
    ("a = .5", "WQ105", ".5", "`.5` is not a number", "write `0.5`"),
    ("a = 1_000", "WQ105", "1_000", "`1_000` is not a number", "write `1000`"),
    ("a = 0x10", "WQ105", "0x10", "`0x10` is not a number", "write `16`"),
    ("a = 1e3", "WQ105", "1e3", "`1e3` is not a number", "write `1000`"),
    ("a = 1h30", "WQ105", "1h30", "`1h30` is not a number", "numbers look like `3` or `0.4`"),
    ("a = 'b'", "WQ110", "'b'", "a string stands between double quotes", 'write `"b"`'),
    ("a = pvc('b')", "WQ110", "'b'", "a string stands between double quotes", 'write `"b"`'),
    ("a-b = 1", "WQ114", "a-b", "`a-b` is not a name", f"write `a_b`: {NAMES}"),
    ("größe = 1", "WQ114", "größe", "`größe` is not a name", NAMES),
    ("a = 1; b = 2", "WQ103", ";", "`;` ends nothing here", "write a comma, or go to a new line"),
    ("a = 1;", "WQ103", ";", "`;` ends nothing here", "write a comma, or go to a new line"),
    ("a = 1 // b", "WQ104", "//", "comments begin with `#`, not with `//`", "write `# b`"),
    ("a = 1 /* b */", "WQ104", "/*", "comments begin with `#`, not with `/*`", "write `# b`"),
    ("a = \u201cb\u201d", "WQ102", "\u201cb\u201d", "a string stands between straight quotes", 'write `"b"`'),
    ("a = b @ c", "WQ101", "@", "`@` means nothing here", "remove it"),
    ("a = \0 1", "WQ101", "\0", "the character U+0000 means nothing here", "remove it"),
    (
        "a =\u00a01",
        "WQ101",
        "\u00a0",
        "the character U+00A0 means nothing here",
        "write a space, which it looks like",
    ),
    ("a = 1 \u2013 2", "WQ101", "\u2013", "`\u2013` means nothing here", "write `-`, which it looks like"),
    (
        "a = ${b}",
        "WQ101",
        "${",
        "`${` means nothing here",
        "outside of strings a param is its name alone: `b`",
    ),
    (
        'a = "${b" ',
        "WQ109",
        "${b",
        "`${b` doesn't name a param",
        "write `${name}`, or `$${` for these characters themselves",
    ),
    (
        'a = b == "${c}"',
        "WQ111",
        "c",
        "conditions have no `${…}`",
        "use `param.c` outside of the string",
    ),
    (
        "a = b c",
        "WQ150",
        "c",
        "expected the end of the line, found `c`",
        "if a text is meant, put it between double quotes",
    ),
    ("a = b ? c", "WQ150", "c", "expected `:` and what is taken otherwise, found the end of the line", ""),
    ("3 = 4", "WQ150", "=", "expected a name before it, found `=`", "write `NAME = VALUE`"),
]


@pytest.mark.parametrize(
    ("attribute", "code", "place", "message", "advice"), ATTRIBUTES, ids=lambda text: None
)
def test_one_finding_and_the_rest_is_read(
    attribute: str, code: str, place: str, message: str, advice: str
) -> None:
    text = in_block(attribute)
    assert findings(text) == [(code, place, message, advice)]
    before, queue, after = parse(Source("a.wq", text)).document.statements
    assert keys(before) == keys(after) == ["from"]
    assert keys(queue)[0] == "first"
    assert keys(queue)[-1] == "last"


def test_a_broken_value_keeps_its_key() -> None:
    (queue,) = parse(Source("a.wq", "queue q { a = ), b = [1 2], c = 3 }")).document.statements
    assert isinstance(queue, Block)
    assert queue.attributes is not None
    assert keys(queue) == ["a", "b", "c"]
    assert isinstance(queue.attributes[0].value, Broken)
    assert isinstance(queue.attributes[1].value, Broken)
    assert shape(queue.attributes[2].value) == ("Number", "3")


def test_nothing_is_made_of_a_list_that_is_not_closed() -> None:
    (queue,) = parse(Source("a.wq", "queue q {\n  a = [b\n  c = f(d\n  e = 1\n}")).document.statements
    assert isinstance(queue, Block)
    assert [type(entry.value).__name__ for entry in queue.attributes or ()] == ["Broken", "Broken", "Number"]


HEADS = [
    ('queue "q" {', "WQ115", '"q"', "the name of a queue has no quotes", "write `queue q`"),
    ('source "files" "q" {', "WQ115", '"files"', "the name of a source has no quotes",
     "write `source q: files`"),
    ("queue a-q {", "WQ114", "a-q", "`a-q` is not a name", f"write `a_q`: {NAMES}"),
    ("queue maxQ {", "WQ114", "maxQ", "`maxQ` is not a name", f"write `max_q`: {NAMES}"),
    ("queue Q {", "WQ114", "Q", "`Q` is not a name", f"write `q`: {NAMES}"),
    ("queue a__q {", "WQ114", "a__q", "`a__q` is not a name", f"write `a_q`: {NAMES}"),
    ("queue a.q {", "WQ114", "a.q", "`a.q` is not a name", f"write `a_q`: {NAMES}"),
    ("queue 2nd {", "WQ114", "2nd", "`2nd` is not a name", NAMES),
    ("queue in {", "WQ222", "in", "`in` is reserved", "choose another name"),
    ("source q files {", "WQ140", "files", "one word too many: a kind stands after a colon",
     "write `source q: files`"),
    ("queue q one {", "WQ150", "one", "expected `{`, found `one`", ""),
    ("source q: 3 {", "WQ150", "3", "expected a kind, found `3`", ""),
    ("worker q(a b) {", "WQ134", "b", "a comma is missing before this", "write `a,`"),
]  # fmt: skip


@pytest.mark.parametrize(("head", "code", "place", "message", "advice"), HEADS, ids=lambda text: None)
def test_heads(head: str, code: str, place: str, message: str, advice: str) -> None:
    text = f"{BEFORE}{head}\n  first = 1\n  last = 2\n}}\n{AFTER}"
    assert findings(text) == [(code, place, message, advice)]
    before, queue, after = parse(Source("a.wq", text)).document.statements
    assert keys(before) == keys(after) == ["from"]
    assert keys(queue) == ["first", "last"]


FILES = [
    # unclosed: told where it begins, and later blocks are read
    ("queue q {\n  a = 1\n\nqueue r { b = }", [("WQ120", 1, "{"), ("WQ131", 4, "=")]),
    ("queue q {\n  a = 1", [("WQ120", 1, "{")]),
    ("queue q {\n  a = [1, 2\n  b = 3\n}\nqueue r { b = }", [("WQ120", 2, "["), ("WQ131", 5, "=")]),
    ("queue q {\n  a = f(1, 2\n  b = 3\n}\n", [("WQ120", 2, "(")]),
    ("queue q {\n  a = f(b == (1, 2\n}\n", [("WQ120", 2, "("), ("WQ120", 2, "(")]),
    ("queue q {\n  a = {\n    b = 1\n  c = 2\n}\nqueue r {}", [("WQ120", 2, "{")]),
    ('queue q {\n  a = "b\n  c = 1\n}\nqueue r { b = }', [("WQ106", 2, '"'), ("WQ131", 5, "=")]),
    ('queue q { a = "b, c = 1 }\nqueue r { b = }', [("WQ106", 1, '"'), ("WQ131", 2, "=")]),
    ('queue q { a = "b, c = ["d", "e"] }\n', [("WQ106", 1, '"')]),
    ('queue q { a = ["b", "c, "d"] }\n', [("WQ106", 1, '"')]),
    ("queue q { a = b == 'c }\n", [("WQ106", 1, "'")]),
    ('queue q {\n  a = """\n    b\n}\nqueue r { b = }', [("WQ107", 2, '"""'), ("WQ131", 5, "=")]),
    (
        'queue q {\n  a = """\n    b\n}\nqueue r {\n  c = """\n    d\n    """\n}\nqueue s { b = }',
        [("WQ107", 2, '"""'), ("WQ131", 10, "=")],
    ),
    # too many
    ("queue q { a = 1 }\n}\nqueue r { b = }", [("WQ121", 2, "}"), ("WQ131", 3, "=")]),
    ("queue q {\n  a = 1)\n  b = 2\n}\n", [("WQ121", 2, ")")]),
    ("}\n}}\n", [("WQ121", 1, "}")]),
    ("queue q { a = [1, 2) }\n", [("WQ122", 1, ")")]),
    ("param a = f(1]\nparam b =", [("WQ122", 1, "]"), ("WQ131", 2, "=")]),
    (",,\nqueue q {}", [("WQ142", 1, ",")]),
    # places
    ("queue q\n{\n  a = 1\n  b =\n}\n", [("WQ123", 2, "{"), ("WQ131", 4, "=")]),
    ("queue q # why\n# so\n{\n}\n", [("WQ123", 3, "{")]),
    ("queue q {\n  a =\n    3\n  b = 1\n}", [("WQ124", 3, "3")]),
    ("queue q {\n  a =\n    {\n  b = 1\n}\n}", [("WQ124", 3, "{")]),
    ('namespace = "a"\nqueue q {}', [("WQ138", 1, "namespace")]),
    ('import "a.wq"\nqueue q {}', [("WQ141", 1, 'import "a.wq"')]),
    ("import a\nqueue q {}", [("WQ141", 1, "import a")]),
    ('import "a.wq" for b\nqueue q {}', [("WQ141", 1, 'import "a.wq" for b')]),
    ('"a"\nqueue q {}', [("WQ142", 1, '"a"')]),
    ("{ a = 1 }\nqueue q {}", [("WQ142", 1, "{")]),
    ("queue q {} queue r {}\nqueue s { b = }", [("WQ150", 1, "queue"), ("WQ131", 2, "=")]),
    # several in one file, one each
    (
        "queue q {\n  a = and b or c not d\n  b = ]] 1\n  c = 'x' 'y' 'z'\n  d = 1\n}\nqueue r { b = }",
        [("WQ133", 2, "and"), ("WQ121", 3, "]"), ("WQ150", 4, "'y'"), ("WQ131", 7, "=")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), FILES, ids=lambda value: None)
def test_files(text: str, expected: list[tuple[str, int, str]]) -> None:
    found = parse(Source("a.wq", text)).findings
    assert [(finding.code, finding.span.line, finding.span.text) for finding in found] == expected


def test_where_an_unclosed_bracket_is_missed() -> None:
    (finding,) = parse(Source("a.wq", "queue q {\n  a = 1\n\nqueue r {}\n")).findings
    assert finding.label == "it begins here"
    assert [(label.span.line, label.span.text, label.text) for label in finding.also] == [
        (4, "queue", "a `}` is missing before this")
    ]


def test_tabs_are_blanks() -> None:
    assert findings("queue\tq\t{\n\ta\t=\t1\n}\n") == []


@pytest.mark.parametrize("nest", ["[", "(", "f(", "{ a = ", "-(", "[{ a = ("], ids=str)
def test_deep_nesting(nest: str) -> None:
    text = f"{BEFORE}param a = {nest * 10_000}\n{AFTER}"
    found = parse(Source("a.wq", text)).findings
    assert "WQ112" in [finding.code for finding in found]
    assert {finding.span.line for finding in found} == {2}


def test_sixty_four_deep_is_fine() -> None:
    assert findings("param a = " + "[" * 64 + "]" * 64) == []
    assert [code for code, *_ in findings("param a = " + "[" * 65 + "]" * 65)] == ["WQ112"]


def test_size() -> None:
    text = "#" * (4 * 1024 * 1024)
    assert findings(text) == []
    assert findings(text + "#") == [
        (
            "WQ113",
            "#",
            "a file may have 4,194,304 characters and this one has 4,194,305",
            "divide it into several workflows",
        )
    ]


# --- anything at all ---

SYMBOLS = {symbol for row in STATES for symbol in row} | {production[0] for production in PRODUCTIONS}
# `NAME` stands for a name in advice
WORDS = sorted(symbol for symbol in SYMBOLS if symbol.isupper() and symbol.isalpha() and symbol != "NAME")
INTERNAL = re.compile(rf"\b(?:{'|'.join(WORDS)})\b|_END|\$END")
SHARDS = (
    *"{}()[]=,.:;?!-\"'#\\$\n\t @\0é",
    *(
        "..",
        "${",
        '"""',
        "'''",
        "//",
        "/*",
        "&&",
        "in ",
        "1m",
        "1e",
        "0x",
        "queue q {\n",
        "  a = 1\n",
        "import ",
    ),
)
broken_texts = st.one_of(
    st.text(max_size=200), st.lists(st.sampled_from(SHARDS), max_size=60).map("".join)
)  # fmt: skip


def readable(finding: Finding, text: str) -> bool:
    words = (finding.message, finding.help, finding.label)
    return (
        0 <= finding.span.start <= finding.span.end <= len(text)
        and all(internal in text for word in words for internal in INTERNAL.findall(word))
        and "\n" not in finding.message
    )


@settings(deadline=None, max_examples=300)
@given(broken_texts)
def test_no_text_is_too_strange(text: str) -> None:
    source = Source("a.wq", text)
    parsed = parse(source)
    found = [
        *parsed.findings,
        *parse_params(source).findings,
        *parse_value(Span(source, 0, len(text))).findings,
    ]
    assert all(readable(finding, text) for finding in found)
    places = [(finding.span.start, finding.span.end, finding.code) for finding in parsed.findings]
    assert places == sorted(places)
    again = format_text(source)
    assert (
        (again.text == text)
        if parsed.findings
        else (format_text(Source("a.wq", again.text)).text == again.text)
    )


@pytest.mark.parametrize(
    "shard", [*SHARDS, "a = b c\n", 'x "y" {\n', "[1 2] ", ')a"', "a-b=1,", "x = [\n"], ids=repr
)
def test_time_grows_with_the_text_alone(shard: str) -> None:
    """However little of it can be read: 100 KiB a second, or what a busy machine makes of that."""
    well_formed = "queue q { from = films, worker = thumbnailer, parallelism = 1..20 }\n" * 1500
    text = f"queue q {{\n  a = {shard * (100 * 1024 // len(shard))}\n}}\n"
    assert seconds(text) < max(1, 20 * seconds(well_formed))


def seconds(text: str) -> float:
    start = time.process_time()
    parse(Source("a.wq", text))
    return time.process_time() - start


def test_blocks_between_the_braces_of_another() -> None:
    text = (
        'workflow w {\n  source s: items { items = ["a"] }\n  namespace = "n"\n'
        '  manager {\n    user = 1\n  }\n  param x = 3\n  worker "k" { image = "a" }\n}\n'
        "queue q {\n  from = s, worker = k\n  budget { pods = 1 }\n  retries = 3\n}\n"
    )
    assert [found[:3] for found in findings(text)] == [
        ("WQ145", "source", "this `source` stands within another block"),
        ("WQ145", "budget", "this `budget` stands within another block"),
    ]
    workflow, queue = parse(Source("a.wq", text)).document.statements
    assert keys(workflow) == ["namespace"]
    assert keys(queue) == ["from", "worker", "retries"]


def test_an_attribute_named_like_a_block_is_none() -> None:
    assert [found[0] for found in findings("queue q {\n  worker { }\n  worker k\n}\n")] == ["WQ135", "WQ135"]
    found = parse_params(Source("a.wqp", "param x = 3\nqueue q { a = 1 }\n")).findings
    assert {each.code for each in found} == {"WQ135"}


@pytest.mark.parametrize("condition", ["(b == (“x”))", "f([c, “x”]) && d", "(" * 70 + "b" + ")" * 70])
def test_an_expression_with_something_broken_in_it_is_broken(condition: str) -> None:
    parsed = parse(Source("a.wq", f"filter f {{ a = {condition}, b = c && (d) }}\n"))
    assert [finding.code for finding in parsed.findings] == ["WQ112" if "((((" in condition else "WQ102"]
    (block,) = parsed.document.statements
    assert isinstance(block, Block)
    assert [type(entry.value) for entry in block.attributes or ()] == [Broken, Expression]
