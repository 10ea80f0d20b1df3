"""Files of another language altogether, of which one thing is to be said and no more."""

import re

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import syntax as mistakes
from wqc.diagnostics.source import Source, Span

_YAML = re.compile(r"---|- |[\w./-]+:(?:[ \t]|$)")
"""How a line that isn't indented begins; in a `.wq` none does."""
_LEAST = 2


def foreign(source: Source) -> Finding | None:
    """None for a file that may be a `.wq`, with whatever mistakes."""
    begun = 0
    first = None
    for line in re.finditer(r"^[^\s#].*", source.text, re.M):
        if not _YAML.match(line[0]):
            return None
        begun += 1
        first = first or line
    if first is None or begun < _LEAST:
        return None
    return mistakes.yaml(Span(source, first.start(), first.end()))
