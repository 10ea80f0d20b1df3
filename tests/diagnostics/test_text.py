"""The words on a screen, exactly."""

import re

from support.places import at
from wqc.diagnostics.finding import Finding, Label, Level
from wqc.diagnostics.source import Source, Span
from wqc.diagnostics.text import LINE_LIMIT, closing, render

FILE = Source("a.wq", "workflow w\n\nqueue a {\n\tfrom = films # 日本語 film\n}\nqueue b { from = films }\n")


def found(span: Span, *also: Label, label: str = "", advice: str = "", level: Level = Level.ERROR) -> Finding:
    return Finding("WQ999", level, "something is wrong", span, label, also, advice)


def said(text: str, finding: Finding) -> None:
    assert render([finding]) == text.lstrip("\n")


def test_one_place_and_help() -> None:
    said(
        """
error[WQ999]: something is wrong
 --> a.wq:6:7
  |
6 | queue b { from = films }
  |       ^ this one
  |
help: do this:
      a = 1

      b = 2

""",
        found(at(FILE, "b", 0), label="this one", advice="do this:\na = 1\n\nb = 2"),
    )


def test_further_places_stand_in_the_order_of_the_file() -> None:
    said(
        """
warning[WQ999]: something is wrong
 --> a.wq:6:18
  |
3 | queue a {
  |       - in here
4 |     from = films # 日本語 film
  |            ----- the first
5 | }
6 | queue b { from = films }
  | ----- a queue
  |                  ^^^^^ the second

""",
        found(
            at(FILE, "films", 1),
            Label(at(FILE, "films"), "the first"),
            Label(at(FILE, "queue", 1), "a queue"),
            Label(at(FILE, "a {").to(at(FILE, "a")), "in here"),
            label="the second",
            level=Level.WARNING,
        ),
    )


def test_another_file() -> None:
    library = Source("lib.wq", "\n" * 9 + "worker x { }\n")
    said(
        """
error[WQ999]: something is wrong
  --> a.wq:6:7
   |
 6 | queue b { from = films }
   |       ^
   |
  ::: lib.wq:10:8
   |
10 | worker x { }
   |        - declared here
   |
help: look

""",
        found(at(FILE, "b"), Label(at(library, "x"), "declared here"), advice="look"),
    )


def test_wide_combining_and_tab_characters_keep_the_marks_in_place() -> None:
    source = Source("a.wq", 'a =\t"日本e\u0301" bad')
    assert render([found(at(source, "bad"))]).splitlines()[3:5] == [
        '1 | a = "日本e\u0301" bad',
        "  |             ^^^",
    ]
    assert render([found(at(source, "日本"))]).splitlines()[4] == "  |      ^^^^"


def test_several_lines() -> None:
    said(
        """
note[WQ999]: something is wrong
 --> a.wq:3:1
  |
3 | queue a {
  | ^^^^^^^^^
4 |     from = films # 日本語 film
5 | }
  | ^ all of it

""",
        found(
            Span(FILE, FILE.text.index("queue a"), FILE.text.index("queue b")),
            label="all of it",
            level=Level.NOTE,
        ),
    )


def test_the_end_of_the_file_and_an_empty_one() -> None:
    end = len(FILE.text)
    assert render([found(Span(FILE, end, end))]).splitlines()[1:] == [
        " --> a.wq:7:1",
        "  |",
        "7 |",
        "  | ^",
        "",
    ]
    assert " --> empty.wq:1:1" in render([found(Span(Source("empty.wq", ""), 0, 0))])


def test_a_very_long_line_is_cut_around_the_place() -> None:
    source = Source("long.wq", "x" * 5000 + " bad " + "y" * 5000)
    line, marks = render([found(at(source, "bad"))]).splitlines()[3:5]
    assert line[4] == line[-1] == "…"
    assert len(line) == 4 + LINE_LIMIT + 2
    assert line[marks.index("^") : marks.rindex("^") + 1] == "bad"


def test_a_very_long_place_is_cut() -> None:
    source = Source("long.wq", "a = " + "x" * 5000)
    assert render([found(at(source, "x" * 5000))]).splitlines()[4] == "  |     " + "^" * (
        LINE_LIMIT - 4 + len("…")
    )


def test_a_source_cannot_steer_the_terminal() -> None:
    source = Source("a.wq", "a \x1b[2J\u202e bad")
    text = render([Finding("WQ999", Level.ERROR, "\x1b[31m", at(source, "bad"), "\x07", help="\x1b]0;x")])
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text


def test_colour_adds_nothing_but_colour() -> None:
    finding = found(at(FILE, "b"), Label(at(FILE, "a"), "x"), label="y", advice="z")
    coloured = render([finding], colour=True)
    assert coloured.startswith("\x1b[1;31merror[WQ999]\x1b[0m\x1b[1m: something is wrong\x1b[0m\n")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render([finding])


def test_the_closing_line() -> None:
    error, warning, note = (found(at(FILE, "b"), level=level) for level in Level)
    assert closing([error, error, warning, note, note, note], notes=False) == (
        "2 errors, 1 warning (3 notes; --notes shows them)\n"
    )
    assert closing([error, note], notes=True) == "1 error, 1 note\n"
    assert closing([note], notes=False) == "no errors, no warnings (1 note; --notes shows it)\n"
    assert closing([], notes=False) == ""
