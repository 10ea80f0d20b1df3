"""WQ12x to WQ15x: brackets, attributes and values in places where they can't be read."""

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.source import Span

_FILE = """
workflow w
source s: items { items = ["a"] }
worker k { image = "example.com/k:1", command = ["work", "b"], takes = 2s }
queue q {
  from    = s
  worker  = k
  retries = 2
}
filter f { from = q, where = item.name == "a" && true }
carrier c: kafka { from = f, brokers = "kafka:9092", topic = "done" }
"""


@mistake(
    "WQ120",
    Level.ERROR,
    bad=_FILE.replace("2\n}", "2"),
    good=_FILE,
    blocking=True,
)
def unclosed_bracket(opener: str, closer: str, before: Span | None) -> Words:
    """A bracket that isn't closed

    The place shown is where it begins; the other one is where something begins that can't stand inside of it.
    """
    return Words(
        f"this `{opener}` has no `{closer}`",
        label="it begins here",
        also=(Label(before, f"a `{closer}` is missing before this"),) if before else (),
        help=f"close it with `{closer}`",
    )


@mistake(
    "WQ121",
    Level.ERROR,
    bad=_FILE.replace("2\n}", "2\n}\n}"),
    good=_FILE,
    blocking=True,
)
def stray_closer(closer: str) -> Words:
    """A closing bracket that closes nothing"""
    return Words(f"this `{closer}` closes nothing", help="remove it")


@mistake(
    "WQ122",
    Level.ERROR,
    bad=_FILE.replace('"b"]', '"b")'),
    good=_FILE,
    blocking=True,
)
def wrong_closer(opener: Span, closer: str, meant: str) -> Words:
    """A bracket closed by one of another kind"""
    return Words(
        f"`{opener.text}` is closed by `{meant}`, not by `{closer}`",
        also=(Label(opener, "it begins here"),),
        help=f"write `{meant}`",
    )


@mistake(
    "WQ123",
    Level.ERROR,
    bad=_FILE.replace("queue q {", "queue q\n{"),
    good=_FILE,
    blocking=True,
)
def brace_on_next_line(head: str) -> Words:
    """A block's `{` on a line of its own

    The `{` belongs to the block's first line: without it that line is a block by itself.
    """
    return Words("`{` stands on the block's first line", help=f"write `{head} {{`")


@mistake(
    "WQ124",
    Level.ERROR,
    bad=_FILE.replace("retries = 2", "retries =\n    2"),
    good=_FILE,
    blocking=True,
)
def value_on_next_line() -> Words:
    """A value on the line after its `=`

    The end of the line ends the attribute.
    """
    return Words("the value begins on the line of its `=`", help="join the two lines")


@mistake(
    "WQ130",
    Level.ERROR,
    bad=_FILE.replace("retries = 2", "retries: 2"),
    good=_FILE,
    blocking=True,
)
def colon_for_equals(key: str) -> Words:
    """`:` where `=` belongs

    Attributes and maps are written `key = value`. A colon stands only before the kind of a block, and in the
    maps of conditions.
    """
    return Words("attributes are written with `=`", help=f"write `{key} = …`")


@mistake(
    "WQ131",
    Level.ERROR,
    bad=_FILE.replace("retries = 2", "retries ="),
    good=_FILE,
    blocking=True,
)
def missing_value(after: str) -> Words:
    """A value is missing"""
    return Words(f"a value is missing after `{after}`", help="write one, or remove what asks for it")


@mistake(
    "WQ132",
    Level.ERROR,
    bad=_FILE.replace("item.name ==", "item.name ="),
    good=_FILE,
    blocking=True,
)
def equals_for_comparison() -> Words:
    """`=` where `==` belongs

    `=` gives an attribute its value; conditions compare with `==`.
    """
    return Words("`=` doesn't compare", help="write `==`")


@mistake(
    "WQ133",
    Level.ERROR,
    bad=_FILE.replace("&&", "and"),
    good=_FILE,
    blocking=True,
)
def word_for_operator(written: str, meant: str) -> Words:
    """`and`, `or` or `not` in words

    Conditions are CEL, which writes them `&&`, `||` and `!`.
    """
    return Words(f"conditions have no `{written}`", help=f"write `{meant}`")


@mistake(
    "WQ134",
    Level.ERROR,
    bad=_FILE.replace('"work", ', '"work" '),
    good=_FILE,
    blocking=True,
)
def missing_comma(previous: Span) -> Words:
    """A comma is missing in a list or a call

    The entries of lists and calls are separated by commas, also where each has its own line.
    """
    return Words(
        "a comma is missing before this",
        also=(Label(previous, "after this"),),
        help=f"write `{_shortened(previous.text)},`",
    )


@mistake(
    "WQ135",
    Level.ERROR,
    bad=_FILE.replace("retries = 2", "retries 2"),
    good=_FILE,
    blocking=True,
)
def missing_equals(key: str) -> Words:
    """`=` is missing after an attribute's name"""
    return Words(f"`=` is missing after `{key}`", help=f"write `{key} = …`")


@mistake(
    "WQ136",
    Level.ERROR,
    bad=_FILE.replace('"work", ', '"work",, '),
    good=_FILE,
    blocking=True,
)
def needless_comma() -> Words:
    """A comma with nothing before it

    A comma may follow the last entry, but nothing can be left out between two.
    """
    return Words("there is nothing before this comma", help="remove it")


@mistake(
    "WQ137",
    Level.ERROR,
    bad=_FILE.replace("from = q, where", "from = q where"),
    good=_FILE,
    blocking=True,
)
def missing_separator(key: str) -> Words:
    """Two attributes with nothing between them

    Attributes are separated by a comma or by the end of the line.
    """
    return Words(f"a comma is missing before `{key}`", help="write a comma, or go to a new line")


@mistake(
    "WQ138",
    Level.ERROR,
    bad='namespace = "work"\n' + _FILE.lstrip(),
    good=_FILE.lstrip().replace("workflow w", 'workflow w { namespace = "work" }'),
    blocking=True,
)
def attribute_outside(key: str) -> Words:
    """An attribute outside of any block

    Outside of blocks there are only blocks, and `param` to give a value a name.
    """
    return Words(
        f"`{key}` stands outside of any block",
        help=f"put it between a block's braces; a value with a name is `param {key} = …`",
    )


@mistake(
    "WQ140",
    Level.ERROR,
    bad=_FILE.replace("s: items", "s items"),
    good=_FILE,
    blocking=True,
)
def kind_without_colon(block: str, name: str, kind: str) -> Words:
    """A block's kind without its colon"""
    return Words("one word too many: a kind stands after a colon", help=f"write `{block} {name}: {kind}`")


@mistake(
    "WQ141",
    Level.ERROR,
    bad='import "lib.wq"\n' + _FILE.lstrip(),
    good=_FILE,
    blocking=True,
)
def malformed_import(meant: str) -> Words:
    """An import that can't be read

    An import gives the file a name, through which its workers are used: `import "lib.wq" as lib`.
    """
    return Words("an import states a file and a name for it", help=f"write `{meant}`")


@mistake(
    "WQ142",
    Level.ERROR,
    bad=_FILE + "{ pods = 9 }\n",
    good=_FILE + "budget { pods = 9 }\n",
    blocking=True,
)
def no_block(found: str) -> Words:
    """Something that doesn't begin a block

    A file consists of blocks, each of which begins with its kind: `queue thumbs { … }`.
    """
    return Words(f"a block can't begin with {found}", help="blocks look like `queue NAME { … }`")


@mistake(
    "WQ143",
    Level.ERROR,
    bad="apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: films\n",
    good=_FILE,
    blocking=True,
)
def yaml() -> Words:
    """A file of YAML

    wqc reads `.wq` files, and writes YAML. What it wrote is changed by changing the `.wq` file, and
    building again.
    """
    return Words(
        "this looks like YAML, not like a .wq file",
        help="wqc writes YAML and reads none; name the .wq file that it is made from",
    )


@mistake(
    "WQ144",
    Level.ERROR,
    bad=_FILE.replace(" && true", ", share = 30%"),
    good=_FILE,
    blocking=True,
)
def percentage(written: str, fraction: str) -> Words:
    """A percentage

    What is a part of something is written as a fraction of 1.
    """
    return Words(f"`{written}` isn't a value", help=f"write {fraction}")


@mistake(
    "WQ145",
    Level.ERROR,
    bad=_FILE.lstrip().replace("workflow w", "workflow w {", 1).replace("\n", "\n  ").rstrip() + "\n}\n",
    good=_FILE,
    blocking=True,
)
def block_within(block: str) -> Words:
    """A block within another block

    A file's blocks stand one after the other, and belong to its one workflow without being within its
    braces.
    """
    return Words(
        f"this `{block}` stands within another block",
        help="blocks stand one after the other: close the other one before this; "
        "`workflow NAME` needs no braces",
    )


@mistake(
    "WQ150",
    Level.ERROR,
    bad=_FILE.replace("retries = 2", "retries = ? 2"),
    good=_FILE,
    blocking=True,
)
def unexpected(found: str, expected: str, advice: str) -> Words:
    """Something in a place where it can't stand"""
    return Words(f"expected {expected}, found {found}", help=advice)


def _shortened(text: str) -> str:
    return text if len(text) <= 40 and "\n" not in text else "…"
