"""Whatever stands in a file: findings can be shown, and the marks stand under what they mark."""

from hypothesis import given
from hypothesis import strategies as st

from wqc.diagnostics import github, json, text
from wqc.diagnostics.finding import Finding, Label, Level
from wqc.diagnostics.screen import shown, width
from wqc.diagnostics.source import Source, Span
from wqc.diagnostics.text import LINE_LIMIT, render

TEXTS = st.text(st.sampled_from("ab \t\n\r\0\x1b\u202e\u0301日🎉é\u200d")) | st.text()


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    source = Source(draw(st.text(min_size=1)), draw(TEXTS))

    def span() -> Span:
        start = draw(st.integers(0, len(source.text)))
        return Span(source, start, draw(st.integers(start, len(source.text))))

    further = tuple(Label(span(), draw(TEXTS)) for _ in range(draw(st.integers(0, 3))))
    return Finding(
        "WQ999", draw(st.sampled_from(Level)), draw(TEXTS), span(), draw(TEXTS), further, draw(TEXTS)
    )


@given(findings())
def test_every_finding_can_be_shown(finding: Finding) -> None:
    shown_text = text.render([finding])
    assert shown_text.endswith("\n\n")
    assert all(character.isprintable() or character in "\n\u200d" for character in shown_text)
    assert json.render([finding])
    assert github.render([finding]).count("\n") == 1


@given(st.text(st.sampled_from("ab \t日é\u0301"), max_size=LINE_LIMIT), st.data())
def test_marks_stand_under_what_they_mark(line: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    marks = render([Finding("WQ999", Level.ERROR, "x", Span(Source("a.wq", line), start, end))]).splitlines()[
        4
    ]
    screen = shown(line)
    before = sum(map(width, shown(line[:start]).text))
    marked = sum(map(width, screen.text)) - before - (screen.columns[-1] - screen.columns[end])
    assert marks == "  | " + " " * before + "^" * max(1, marked)
