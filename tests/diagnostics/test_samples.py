"""Every registered mistake, compiled: its samples have it or not, its help helps, its page is one."""

import re

import pytest

import wqc.diagnostics.mistakes  # noqa: F401  (fills MISTAKES)
from support.samples import built
from wqc.diagnostics.finding import Finding, Level
from wqc.diagnostics.mistake import MISTAKES, Mistake
from wqc.diagnostics.page import page

LEVELS = (Level.NOTE, Level.WARNING, Level.ERROR)
EVERY = [MISTAKES[code] for code in sorted(MISTAKES)]
every_mistake = pytest.mark.parametrize("mistake", EVERY, ids=lambda mistake: mistake.code)

# What to do is in the message: it says what is taken, or what is wrong with what was written.
SAYS_ENOUGH = {"WQ112", "WQ150", "WQ210", "WQ212", "WQ216", "WQ229", "WQ238", "WQ308"}


def bad(mistake: Mistake) -> str:
    """The sample; the page asks people to picture that of WQ113 as longer."""
    return mistake.bad + ("# and so on\n" * 400_000 if mistake.code == "WQ113" else "")


def at_least(level: Level, findings: tuple[Finding, ...]) -> list[str]:
    least = LEVELS.index(level)
    return [f"{each.code} {each.message}" for each in findings if LEVELS.index(each.level) >= least]


@every_mistake
def test_the_bad_sample_has_just_this_mistake(mistake: Mistake) -> None:
    found = at_least(mistake.level, built(bad(mistake)).checked.findings)
    assert [each[:5] for each in found] == [mistake.code], found


@every_mistake
def test_the_good_sample_is_fine(mistake: Mistake) -> None:
    """Advice may be left, though not this."""
    findings = built(mistake.good).checked.findings
    assert at_least(Level.WARNING, findings) == []
    assert mistake.code not in [each.code for each in findings]
    assert mistake.good != mistake.bad


@every_mistake
def test_the_finding_is_written_as_findings_are(mistake: Mistake) -> None:
    findings = built(bad(mistake)).checked.findings
    (finding,) = (each for each in findings if each.code == mistake.code)
    assert finding.level is mistake.level
    assert "\n" not in finding.message
    assert not finding.message.endswith((".", "!"))
    assert not re.match(r"[A-Z][a-z]+ [a-z]", finding.message)
    assert bool(finding.help) != (mistake.code in SAYS_ENOUGH)
    assert not finding.help.endswith(".")


@every_mistake
def test_the_page(mistake: Mistake) -> None:
    text = page(mistake)
    assert text.startswith(f"## {mistake.code}: {mistake.title}\n")
    assert mistake.bad in text
    assert mistake.good in text


@pytest.mark.parametrize(
    "mistake",
    [mistake for mistake in EVERY if mistake.level is Level.ERROR and not mistake.blocking],
    ids=lambda mistake: mistake.code,
)
def test_an_error_that_may_be_silenced_leaves_something_to_build(mistake: Mistake) -> None:
    finding = next(each for each in built(mistake.bad).checked.findings if each.code == mistake.code)
    lines = mistake.bad.splitlines()
    lines[finding.span.line - 1] += f" # wqc: allow {mistake.code}: to see what comes of it"
    silenced = built("\n".join(lines) + "\n")
    assert at_least(Level.WARNING, silenced.checked.findings) == []
    assert "kustomization.yaml" in silenced.files
