"""The registry of mistakes: each is a function from typed facts to the words that people read."""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Concatenate, ParamSpec

from wqc.diagnostics.finding import Finding, Label, Level
from wqc.diagnostics.source import Span

Facts = ParamSpec("Facts")


@dataclass(frozen=True, slots=True)
class Words:
    """What a mistake's function returns: see `Finding` for the fields."""

    message: str
    label: str = ""
    also: tuple[Label, ...] = ()
    help: str = ""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A registered mistake; `wqc explain` and the documentation show it.

    `bad` is a whole `.wq` file that has the mistake and `good` the same file mended; both are tested. Where
    the mistake takes
    several files, each further one starts after a line `#: NAME`.
    `blocking` mistakes leave nothing to build, so they can't be silenced.
    """

    code: str
    level: Level
    title: str
    explanation: str
    bad: str
    good: str
    blocking: bool


def declared_at(span: Span | None) -> tuple[Label, ...]:
    """The further place of a mistake about something that was declared elsewhere."""
    return (Label(span, "declared here"),) if span else ()


MISTAKES: dict[str, Mistake] = {}


def mistake(
    code: str, level: Level, *, bad: str, good: str, blocking: bool = False
) -> Callable[[Callable[Facts, Words]], Callable[Concatenate[Span, Facts], Finding]]:
    """Register the decorated function, whose arguments are the facts and whose docstring is the page.

    The docstring's first line is the title. The result takes the primary span before the facts and returns
    a `Finding`.
    """

    def register(words: Callable[Facts, Words]) -> Callable[Concatenate[Span, Facts], Finding]:
        title, _, explanation = textwrap.dedent(words.__doc__ or "").strip().partition("\n")
        if code in MISTAKES:
            raise ValueError(f"{code} is registered twice")
        MISTAKES[code] = Mistake(
            code, level, title, textwrap.dedent(explanation).strip(), _sample(bad), _sample(good), blocking
        )

        def finding(span: Span, /, *args: Facts.args, **facts: Facts.kwargs) -> Finding:
            said = words(*args, **facts)
            return Finding(code, level, said.message, span, said.label, said.also, said.help)

        return finding

    return register


def _sample(text: str) -> str:
    return textwrap.dedent(text).strip() + "\n"


def is_blocking(finding: Finding) -> bool:
    """Whether nothing can be built while this is there."""
    return MISTAKES[finding.code].blocking


def at_level(finding: Finding, level: Level) -> Finding:
    """The same finding, raised or lowered."""
    return replace(finding, level=level)


def sample_files(sample: str) -> dict[str, str]:
    """The files of a sample by name, the workflow's first, which is named `""`."""
    files: dict[str, list[str]] = {"": []}
    lines = files[""]
    for line in sample.splitlines(keepends=True):
        if line.startswith("#: "):
            lines = files[line.removeprefix("#: ").strip()] = []
        else:
            lines.append(line)
    return {name: "".join(lines) for name, lines in files.items()}
