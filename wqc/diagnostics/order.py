"""The order in which findings are told."""

from collections.abc import Iterable, Sequence

from wqc.diagnostics.finding import Finding


def in_order(findings: Iterable[Finding], files: Sequence[str]) -> tuple[Finding, ...]:
    """By file, those in `files` first and as they stand there, then by place and code; each finding once."""
    places = {name: number for number, name in enumerate(dict.fromkeys(files))}

    def key(finding: Finding) -> tuple[int, str, int, str, int, str]:
        span = finding.span
        name = span.source.name
        return places.get(name, len(places)), name, span.start, finding.code, span.end, finding.message

    # The same file imported twice is two sources of one name.
    unlike = {key(finding): finding for finding in findings}
    return tuple(unlike[each] for each in sorted(unlike))
