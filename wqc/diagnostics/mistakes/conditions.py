"""WQ3xx: conditions and keys that can't be evaluated, or always give the same."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.wording import listed

_HEAD = """\
workflow w
manager { image = "example.com/wqc-runtime:1" }
source s: http { url = "https://example.com", arrives = 10s }
worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 5s }
queue q { from = f, worker = k, parallelism = 2 }
"""
_FILTER = _HEAD + "filter f { from = s, share = 0.5, where = has(item.data.size) && item.data.size > 3 }\n"


@mistake(
    "WQ301",
    Level.ERROR,
    bad=_FILTER.replace("> 3", "> 3m"),
    good=_FILTER,
    blocking=True,
)
def unreadable_condition(reason: str, hint: str) -> Words:
    """A condition that isn't written in CEL

    Conditions and keys are expressions of the Common Expression Language (https://cel.dev): much like those
    of C or Python, with `&&`, `||`, `!`, `in`, `? :`, lists and maps, and without units.
    """
    return Words(f"a condition can't be read here: {reason}", help=hint)


@mistake(
    "WQ302",
    Level.ERROR,
    bad=_FILTER.replace("item.data.size > 3", "item.dat.size > 3"),
    good=_FILTER,
    blocking=True,
)
def undeclared_in_condition(word: str, hint: str) -> Words:
    """A condition with a name that isn't there

    Conditions know `item.name`, `item.version`, `item.data` (with its fields) and params as `param.x`.
    Sources that list files or commits say which fields their items' data has; that of the others may have
    any.
    """
    return Words(f"conditions have no `{word}`", help=hint)


_CONVERT = "`int(…)`, `double(…)` and `string(…)` convert"
_CONVERSIONS = dict.fromkeys(("&&", "||", "!"), "each side must hold or not: compare it with something")


@mistake(
    "WQ303",
    Level.ERROR,
    bad=_FILTER.replace("item.data.size > 3", "item.name > 3"),
    good=_FILTER,
    blocking=True,
)
def operation_without_types(operation: str, types: Sequence[str], hint: str = "") -> Words:
    """An operation on values that it doesn't go with

    Nothing is converted silently: compare strings with strings, integers with integers. `int(…)`,
    `double(…)` and `string(…)` convert.
    """
    said = (
        f"{types[0]} has no `{operation}`"
        if len(types) == 1
        else f"`{operation}` doesn't go with {_and(types)}"
    )
    return Words(said, help=hint or _CONVERSIONS.get(operation, _CONVERT))


@mistake(
    "WQ304",
    Level.ERROR,
    bad=_FILTER.replace("item.data.size > 3", "item.data.size > 3 ? 1 : 0").replace(
        "has(item.data.size) && ", ""
    ),
    good=_FILTER,
    blocking=True,
)
def wrong_result(expected: str, found: str, hint: str = "") -> Words:
    """A condition that is neither true nor false, or a key that can't be compared

    A condition gives `true` or `false`. A sharder's key is a string, a number, a boolean, or a list or map
    of them.
    """
    return Words(f"this gives {found}, and {expected} is needed", help=hint)


@mistake(
    "WQ305",
    Level.WARNING,
    bad=_FILTER.replace("has(item.data.size) && item.data.size > 3", "1 < 2"),
    good=_FILTER,
)
def constant_condition(always: str, hint: str, params: Sequence[str]) -> Words:
    """A condition that doesn't depend on the item

    What it gives is known now, for all items. Where it depends on a param, to switch something on in one
    environment, this is only a note.
    """
    by = f", as {listed(params)} {'says' if len(params) == 1 else 'say'}" if params else ""
    return Words(f"this is always {always}, whatever the item{by}", help=hint)


@mistake(
    "WQ306",
    Level.NOTE,
    bad=_FILTER.replace("has(item.data.size) && ", ""),
    good=_FILTER,
)
def field_may_be_missing(fields: Sequence[str], node: str) -> Words:
    """A field that an item may not have

    Nothing tells which fields the data of these items has. An item without the field goes to the node's
    `.failed` stream; `has(…)` tells whether it is there.
    """
    tests = " && ".join(f"has({field})" for field in fields[:3])
    return Words(
        f"an item without {listed(fields, 'or')} goes to `{node}.failed`",
        help=f"if that isn't meant: {tests} && …",
    )


@mistake(
    "WQ307",
    Level.ERROR,
    bad=_FILTER.replace("has(item.data.size)", "has(item.name)"),
    good=_FILTER,
    blocking=True,
)
def has_of_declared(name: str) -> Words:
    """`has(…)` of what is always there

    `has(…)` tells whether `item.data` has a field. The item's name, version and data are always there, and
    so are params and the fields that a source is known to give.
    """
    return Words(
        f"`{name}` is always there, and `has` asks for fields that may be missing",
        help="remove this `has(…)`",
    )


@mistake(
    "WQ308",
    Level.ERROR,
    bad=_FILTER.replace("item.data.size > 3", "item.name.matches('(')"),
    good=_FILTER,
    blocking=True,
)
def unreadable_pattern(reason: str) -> Words:
    """A regular expression that can't be read

    `matches` takes the syntax of RE2 (https://github.com/google/re2/wiki/Syntax). Every item would go to
    `.failed`.
    """
    return Words(f"this regular expression can't be read: {reason}")


def _and(types: Sequence[str]) -> str:
    return f"{', '.join(types[:-1])} and {types[-1]}"
