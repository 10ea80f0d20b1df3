"""WQ9xx: comments that silence findings, `# wqc: allow WQ401: the reason`."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.suggestion import did_you_mean

_HEAD = 'workflow w\nmanager { image = "example.com/wqc-runtime:1" }\nsource s: items { items = ["a"] }\n'
_SILENCED = (
    _HEAD
    + 'worker k { image = "example.com/k:latest", cpu = 1, memory = 1Gi, takes = 10s } '
    + "# wqc: allow WQ701: rebuilt each night\n"
    + "queue q { from = s, worker = k }\n"
)
_CLEAN = _SILENCED.replace(":latest", ":1").replace(" # wqc: allow WQ701: rebuilt each night", "")


@mistake("WQ901", Level.WARNING, bad=_SILENCED.replace(":latest", ":1"), good=_SILENCED)
def silences_nothing(code: str) -> Words:
    """A silencer that silences nothing

    `# wqc: allow WQ401: the reason` silences findings of that code on its line, or, on a line of its own,
    on the next one. One that silences nothing is left over from something that was mended, or stands on
    another line than the finding.
    """
    return Words(
        f"there is no {code} here to silence",
        help="remove it, or put it on the line that the finding points at",
    )


@mistake(
    "WQ902",
    Level.WARNING,
    bad=_CLEAN.replace("worker = k }", "worker = k } # wqc: allow WQ401"),
    good=_CLEAN,
)
def silencer_without_reason(codes: str) -> Words:
    """A silencer without a reason

    Whoever reads the file later must be able to tell whether the reason still holds. Without one nothing is
    silenced.
    """
    return Words(
        "this silencer gives no reason, so it silences nothing",
        help=f"write `# wqc: allow {codes}: why this is fine`",
    )


@mistake(
    "WQ903",
    Level.WARNING,
    bad=_SILENCED.replace("WQ701", "WQ7001").replace(":latest", ":1"),
    good=_SILENCED,
)
def silencer_of_unknown_code(code: str, known: Sequence[str]) -> Words:
    """A silencer of a code that doesn't exist"""
    return Words(f"there is no finding {code}", help=did_you_mean(code, known))


@mistake(
    "WQ904",
    Level.WARNING,
    bad=_CLEAN.replace("worker = k }", "worker = k } # wqc: allow WQ203: never mind"),
    good=_CLEAN,
)
def silencer_of_blocking(code: str, title: str) -> Words:
    """A silencer of something that can't be silenced

    Where a name, a type or the syntax is wrong, there is nothing that could be built.
    """
    return Words(f"{code} can't be silenced: {title[0].lower()}{title[1:]}", help="mend it, and remove this")


@mistake(
    "WQ905",
    Level.WARNING,
    bad=_SILENCED.replace("allow WQ701:", "ignore WQ701:").replace(":latest", ":1"),
    good=_SILENCED,
)
def malformed_silencer(written: str) -> Words:
    """A comment that begins like a silencer and is none"""
    return Words(
        f"`{written}` is no silencer",
        help="write `# wqc: allow WQ401: the reason`, or with several codes `WQ401, WQ402: …`",
    )
