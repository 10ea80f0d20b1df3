"""The `.wq` code in README and docs compiles.

A block that begins with `wq` is a whole workflow, without errors or warnings. `wq fragment` is some blocks of
one: what they mention and do not declare is added. `wq wrong` shows a mistake, so it has findings. `wqp` is
a file of values. (docs/reference is generated; the registry of mistakes has its own test of its samples.)
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from wqc.cli.imports import Imports
from wqc.diagnostics.finding import Finding, Level
from wqc.diagnostics.source import Source
from wqc.language.params import file_settings
from wqc.pipeline import Options, check

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(wqp?)(?: +(\w+))?\n(.*?)^```$", re.M | re.S)

# What fragments mention, by name.
AROUND = {
    "films": 'source films: files { path = "/media", volume = pvc("media"), arrives = 1m }',
    "thumbnailer": (
        'worker thumbnailer { image = "registry.example.com/thumbnailer:1.0", command = ["thumbnail"], '
        "cpu = 1, memory = 1Gi, takes = 30s, "
        'mounts = { "/media" = pvc("media") } }'
    ),
}
# A fragment has readers and sources elsewhere.
CUT_OFF = {"WQ403", "WQ404"}


@dataclass(frozen=True)
class Snippet:
    page: str
    line: int
    language: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def snippets() -> list[Snippet]:
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if page.is_relative_to(ROOT / "docs" / "reference"):
            continue
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            found.append(Snippet(str(page.relative_to(ROOT)), line, match[1], match[2] or "", match[3]))
    return found


SNIPPETS = snippets()


def problems(text: str, name: str) -> list[Finding]:
    checked = check(Source(name, text), Options(read=Imports()))
    return [finding for finding in checked.findings if finding.level is not Level.NOTE]


def completed(fragment: str) -> str:
    """With a workflow around it, and the blocks that it mentions without declaring them."""
    text = fragment if re.search(r"^workflow ", fragment, re.M) else f"workflow snippet\n{fragment}"
    for name, block in AROUND.items():
        if re.search(rf"= {name}\b", text) and not re.search(rf"^\w+ {name}\b", text, re.M):
            text += f"{block}\n"
    return text


def of(language: str, mark: str) -> list[Snippet]:
    return [snippet for snippet in SNIPPETS if (snippet.language, snippet.mark) == (language, mark)]


def test_every_mark_is_known() -> None:
    known = {("wq", ""), ("wq", "fragment"), ("wq", "wrong"), ("wqp", "")}
    assert {(snippet.language, snippet.mark) for snippet in SNIPPETS} <= known
    assert len(of("wq", "")) >= 20


@pytest.mark.parametrize("snippet", of("wq", ""), ids=str)
def test_a_workflow_is_clean(snippet: Snippet) -> None:
    assert problems(snippet.text, str(snippet)) == []


@pytest.mark.parametrize("snippet", of("wq", "fragment"), ids=str)
def test_a_fragment_is_clean(snippet: Snippet) -> None:
    found = problems(completed(snippet.text), str(snippet))
    assert [finding for finding in found if finding.code not in CUT_OFF] == []


@pytest.mark.parametrize("snippet", of("wq", "wrong"), ids=str)
def test_a_mistake_is_found(snippet: Snippet) -> None:
    assert [finding.code for finding in problems(snippet.text, str(snippet))] != []


@pytest.mark.parametrize("snippet", of("wqp", ""), ids=str)
def test_a_file_of_values_is_read(snippet: Snippet) -> None:
    settings, findings = file_settings([Source(str(snippet), snippet.text)])
    assert settings
    assert findings == []
