"""The page of a mistake, in Markdown: what `wqc explain` prints and the reference shows."""

from wqc.diagnostics.finding import Level
from wqc.diagnostics.mistake import Mistake

_MEANING = {
    Level.ERROR: "an error: it can't work",
    Level.WARNING: "a warning: it works, but will hurt",
    Level.NOTE: "a note: advice, shown with `--notes`",
}


def page(mistake: Mistake) -> str:
    """A section of its own."""
    silence = (
        "It can't be silenced: there would be nothing to build."
        if mistake.blocking
        else f"To allow it in one place, end the line with `# wqc: allow {mistake.code}: the reason`."
    )
    paragraphs = (
        f"## {mistake.code}: {mistake.title}",
        f"This is {_MEANING[mistake.level]}.",
        mistake.explanation,
        "Wrong:",
        _sample(mistake.bad, "wq wrong"),
        "Right:",
        _sample(mistake.good, "wq several files" if "\n#: " in mistake.good else "wq"),
        silence,
    )
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _sample(text: str, language: str) -> str:
    """Only a block of language `wq` is one whole file without a mistake."""
    return f"```{language}\n{text}```"
