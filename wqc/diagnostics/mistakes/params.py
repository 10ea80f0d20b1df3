"""WQ2xx: params without a value, a type or a declaration."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.mistakes.samples import QUEUE
from wqc.diagnostics.suggestion import did_you_mean

EACH_IS_WHOLE = "`each` stands for the whole value of an entry, and has no parts"


@mistake(
    "WQ213",
    Level.ERROR,
    bad="param tag: string\n" + QUEUE.replace("k:1", "k:${tag}"),
    good='param tag: string = "1"\n' + QUEUE.replace("k:1", "k:${tag}"),
    blocking=True,
)
def unset_param(name: str, type: str) -> Words:
    """A param without a value

    A param that has a type but no default must be given one by `--param name=value` or a `.wqp` file.
    One that has neither has no meaning.
    """
    default = f"`param {name}: {type} = …`"
    way_out = f"build with `--param {name}=…` or `--params FILE.wqp`, or give it a default: {default}"
    if not type:
        way_out = f"give it a default, `param {name} = …`, or state its type: `param {name}: string`"
    return Words(f"the param `{name}` has no value", help=way_out)


@mistake(
    "WQ214",
    Level.ERROR,
    bad="param wait = 5m\n" + QUEUE.replace("worker = k }", "worker = k, timeout = wait }"),
    good="param wait: duration = 5m\n" + QUEUE.replace("worker = k }", "worker = k, timeout = wait }"),
    blocking=True,
)
def ambiguous_param(name: str, written: str, types: Sequence[str]) -> Words:
    """A param whose default fits several types

    A param has the type of its default. Where that fits several, such as `5m`, the param states its type.
    """
    choices = " or ".join(f"`param {name}: {type} = {written}`" for type in types)
    return Words(f"`{written}` may be {' or '.join(types)}", help=f"state the type: {choices}")


@mistake(
    "WQ215",
    Level.ERROR,
    bad="param count: int = 3\n" + QUEUE.replace("worker = k }", "worker = k, retries = count }"),
    good="param count: integer = 3\n" + QUEUE.replace("worker = k }", "worker = k, retries = count }"),
    blocking=True,
)
def unknown_param_type(word: str, known: Sequence[str]) -> Words:
    """A param of a type that the language doesn't have"""
    return Words(f"there is no type `{word}`", help=did_you_mean(word, known))


@mistake(
    "WQ228",
    Level.ERROR,
    bad=QUEUE.replace('image = "example.com/k:1"', 'image = "example.com/k:${tga}"'),
    good='param tag = "1"\n' + QUEUE.replace('image = "example.com/k:1"', 'image = "example.com/k:${tag}"'),
    blocking=True,
)
def unknown_param(word: str, known: Sequence[str]) -> Words:
    """A param that isn't declared"""
    if word.startswith("each."):
        return Words(f"there is no `{word}`", help=EACH_IS_WHOLE)
    advice = did_you_mean(word.removeprefix("param."), known) or f"declare it: `param {word} = …`"
    return Words(f"there is no param `{word}`", help=advice)


@mistake(
    "WQ242",
    Level.ERROR,
    bad='param image = "example.com/k:${tag}"\nparam tag = "1"\n'
    + QUEUE.replace('image = "example.com/k:1"', "image = image"),
    good='param tag = "1"\nparam image = "example.com/k:${tag}"\n'
    + QUEUE.replace('image = "example.com/k:1"', "image = image"),
    blocking=True,
)
def param_below(word: str) -> Words:
    """A param that uses one declared further down

    A param may use those above it, so that none is made of itself. Everything else may use all of them.
    """
    return Words(f"`{word}` is declared further down", help="move it above this param")
