"""The registry's samples of what can't be read: each bad one has its mistake alone, each good one none."""

import pytest

import wqc.diagnostics.mistakes  # noqa: F401  (fills the registry)
from wqc.diagnostics.mistake import MISTAKES, Mistake
from wqc.diagnostics.source import Source
from wqc.language import lexer
from wqc.language.parser import parse

SYNTAX = [mistake for mistake in MISTAKES.values() if mistake.code.startswith("WQ1")]


def codes(text: str) -> list[str]:
    return [finding.code for finding in parse(Source("sample.wq", text)).findings]


@pytest.mark.parametrize("mistake", SYNTAX, ids=lambda mistake: mistake.code)
def test_syntax_samples(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    if mistake.code == "WQ113":
        # the real limit would make a sample of 4 MiB
        monkeypatch.setattr(lexer, "SIZE_LIMIT", len(mistake.good))
    assert codes(mistake.bad) == [mistake.code]
    assert codes(mistake.good) == []


@pytest.mark.parametrize("mistake", SYNTAX, ids=lambda mistake: mistake.code)
def test_syntax_mistakes_can_t_be_silenced(mistake: Mistake) -> None:
    assert mistake.blocking


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=lambda mistake: mistake.code)
def test_every_mistake_has_a_title(mistake: Mistake) -> None:
    assert mistake.title
    assert not mistake.title.endswith(".")
