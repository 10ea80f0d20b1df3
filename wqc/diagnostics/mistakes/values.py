"""WQ2xx: values that their attributes don't take."""

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, declared_at, mistake
from wqc.diagnostics.mistakes.samples import HEAD, QUEUE
from wqc.diagnostics.source import Span


@mistake(
    "WQ206",
    Level.ERROR,
    bad=QUEUE.replace("worker = k", "worker = k, retries = 1, retries = 2"),
    good=QUEUE.replace("worker = k", "worker = k, retries = 2"),
    blocking=True,
)
def duplicate_key(name: str, first: Span) -> Words:
    """One key given twice

    A later value would silently win over the earlier one.
    """
    return Words(
        f"`{name}` is given twice", also=(Label(first, "first given here"),), help="remove one of the two"
    )


@mistake(
    "WQ208",
    Level.ERROR,
    bad=QUEUE.replace("worker = k }", 'worker = k, retries = "3" }'),
    good=QUEUE.replace("worker = k }", "worker = k, retries = 3 }"),
    blocking=True,
)
def wrong_type(name: str, expected: str, found: str, param: Span | None = None, hint: str = "") -> Words:
    """A value of another type than the attribute takes"""
    return Words(f"`{name}` takes {expected}, not {found}", also=declared_at(param), help=hint)


@mistake(
    "WQ209",
    Level.ERROR,
    bad=HEAD.replace(':1"', ':1", memory = 512m'),
    good=HEAD.replace(':1"', ':1", memory = 512Mi') + "queue q { from = s, worker = k }\n",
    blocking=True,
)
def wrong_unit(name: str, expected: str, written: str, suggestion: str, param: Span | None = None) -> Words:
    """A measure without a unit, or with one that doesn't belong to what is measured

    A unit is never left out or guessed: `512m` is eight and a half hours or half a core, and never memory.
    """
    return Words(
        f"`{name}` takes {expected}, and `{written}` is none",
        also=declared_at(param),
        help=f"did you mean `{suggestion}`?" if suggestion else "",
    )


@mistake(
    "WQ210",
    Level.ERROR,
    bad=QUEUE.replace("worker = k }", "worker = k, retries = 1000 }"),
    good=QUEUE.replace("worker = k }", "worker = k, retries = 10 }"),
    blocking=True,
)
def out_of_bounds(name: str, written: str, bounds: str, param: Span | None = None) -> Words:
    """A value outside of what the attribute allows"""
    return Words(f"`{name}` must be {bounds}, and `{written}` isn't", also=declared_at(param))


@mistake(
    "WQ211",
    Level.ERROR,
    bad=QUEUE.replace("worker = k }", "worker = k, parallelism = 9..1 }"),
    good=QUEUE.replace("worker = k }", "worker = k, parallelism = 1..9 }"),
    blocking=True,
)
def empty_range(name: str, low: str, high: str, param: Span | None = None) -> Words:
    """A range that ends below its start"""
    return Words(
        f"the range of `{name}` ends below its start",
        also=declared_at(param),
        help=f"did you mean `{high}..{low}`?",
    )


@mistake(
    "WQ212",
    Level.ERROR,
    bad=HEAD.replace('"example.com/k:1"', '"example.com/my worker:1"'),
    good=QUEUE,
    blocking=True,
)
def malformed_text(name: str, written: str, what: str, param: Span | None = None) -> Words:
    """A string that isn't of the form that the attribute asks for"""
    return Words(f"`{name}` must be {what}, and {written} isn't", also=declared_at(param))


@mistake(
    "WQ231",
    Level.ERROR,
    bad=QUEUE.replace(':1"', ':1", run = "true", command = ["true"]'),
    good=QUEUE.replace(':1"', ':1", command = ["true"]'),
    blocking=True,
)
def exclusive_attributes(first: str, second: str, reason: str) -> Words:
    """Two attributes that exclude each other"""
    return Words(f"`{second}` doesn't go with `{first}`: {reason}", help="remove one of the two")


@mistake(
    "WQ238",
    Level.ERROR,
    bad=QUEUE.replace("worker = k }", 'worker = k, env = { "MY-NAME" = "x" } }'),
    good=QUEUE.replace("worker = k }", 'worker = k, env = { MY_NAME = "x" } }'),
    blocking=True,
)
def malformed_key(name: str, written: str, what: str, param: Span | None = None) -> Words:
    """A key that isn't of the form that the map asks for"""
    return Words(f"a key of `{name}` must be {what}, and `{written}` isn't", also=declared_at(param))


_EIGHT_TIMES = "".join(
    f'param {name} = "{f"${{{inner}}}" * 8}"\n' for inner, name in zip("abcdef", "bcdefg", strict=True)
)


@mistake(
    "WQ239",
    Level.ERROR,
    bad='param a = "0123456789"\n'
    + _EIGHT_TIMES
    + QUEUE.replace("worker = k }", "worker = k, env = { G = g } }"),
    good=QUEUE,
    blocking=True,
)
def value_too_large(limit: int, unit: str) -> Words:
    """A value that is too large once its params are put in

    Params that are made of other params grow with each step; a few steps fill any memory.
    """
    return Words(
        f"with its params put in, this has more than {limit:,} {unit}",
        help="keep it in the image, in a volume or in a ConfigMap of the namespace, and refer to that",
    )


@mistake(
    "WQ240",
    Level.ERROR,
    bad=QUEUE.replace("worker = k }", 'worker = k, env = { TOKEN = secret("mail") } }'),
    good=QUEUE.replace("worker = k }", 'worker = k, env = { TOKEN = secret("mail", "token") } }'),
    blocking=True,
)
def missing_argument(call: str, name: str, doc: str) -> Words:
    """A call without an argument that is needed where it stands

    A variable or a credential is one key of a Secret or ConfigMap; only a mount can be all of it.
    """
    return Words(f"{call} needs its `{name}` here: {doc}", help=f"write {call}")


@mistake(
    "WQ243",
    Level.ERROR,
    bad=QUEUE.replace(':1"', ':1", command = ["echo", "a\\u0000b"]'),
    good=QUEUE.replace(':1"', ':1", command = ["echo", "ab"]'),
    blocking=True,
)
def null_character() -> Words:
    """A string with a NUL character

    No argument, variable, file name or address can hold one.
    """
    return Words("this string holds a NUL character, which nothing can be given", help="remove `\\u0000`")
