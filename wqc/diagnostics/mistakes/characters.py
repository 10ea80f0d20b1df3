"""WQ10x and WQ11x: characters, numbers and strings that the language doesn't have."""

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.source import Span

_FILE = """
workflow w
source s: items { items = ["a"] }
worker k { image = "example.com/k:1", command = ["work", "b c"], takes = 2s }
queue q { from = s, worker = k, parallelism = 2 }
"""
_FILTER = (
    'param kind = "a"\n'
    + _FILE.lstrip().replace("from = s", "from = f")
    + "filter f { from = s, where = item.name == param.kind }\n"
)


@mistake(
    "WQ101",
    Level.ERROR,
    bad=_FILE.replace('"work"', '$"work"'),
    good=_FILE,
    blocking=True,
)
def stray_character(character: str, advice: str) -> Words:
    """A character that means nothing outside of strings

    Outside of strings, scripts and comments a file is plain ASCII. Often the character came along when text
    was copied from a web page or a word processor.
    """
    return Words(f"{character} means nothing here", help=advice)


@mistake(
    "WQ102",
    Level.ERROR,
    bad=_FILE.replace('"b c"', "“b c”"),
    good=_FILE,
    blocking=True,
)
def typographic_quotes(text: str) -> Words:
    """Typographic quotes

    Word processors turn straight quotes into curved ones. Only the straight `"` begins and ends a string.
    """
    return Words("a string stands between straight quotes", help=f'write `"{text}"`')


@mistake(
    "WQ103",
    Level.ERROR,
    bad=_FILE.replace("command = [", "; command = [").replace(':1", ;', ':1";'),
    good=_FILE,
    blocking=True,
)
def semicolon() -> Words:
    """A semicolon

    An attribute ends with its line, or with a comma where another one follows on the same line.
    """
    return Words("`;` ends nothing here", help="write a comma, or go to a new line")


@mistake(
    "WQ104",
    Level.ERROR,
    bad="// all of it\n" + _FILE.lstrip(),
    good="# all of it\n" + _FILE.lstrip(),
    blocking=True,
)
def foreign_comment(opener: str, text: str) -> Words:
    """A comment in another language's style

    Comments begin with `#` and end with the line.
    """
    return Words(f"comments begin with `#`, not with `{opener}`", help=f"write `# {text}`" if text else "")


@mistake(
    "WQ105",
    Level.ERROR,
    bad=_FILE.replace("parallelism = 2", "parallelism = 1_0"),
    good=_FILE.replace("parallelism = 2", "parallelism = 10"),
    blocking=True,
)
def malformed_number(written: str, meant: str) -> Words:
    """A number in a form that the language doesn't have

    Numbers are decimal, `3` or `0.4`, without separators, exponents or bases. A measure is numbers with their
    units and nothing between, `30s` or `1h30m`.
    """
    return Words(
        f"`{written}` is not a number", help=f"write `{meant}`" if meant else "numbers look like `3` or `0.4`"
    )


@mistake(
    "WQ106",
    Level.ERROR,
    bad=_FILE.replace('k:1"', "k:1"),
    good=_FILE,
    blocking=True,
)
def unclosed_string(quote: str) -> Words:
    """A string that isn't closed

    A string ends on the line on which it began. Text of several lines is a script, between triple quotes.
    """
    return Words(f"this string has no closing `{quote}`", label="it begins here", help="close it on its line")


@mistake(
    "WQ107",
    Level.ERROR,
    bad=_FILE.replace('command = ["work", "b c"]', 'run = """work'),
    good=_FILE.replace('command = ["work", "b c"]', 'run = """work"""'),
    blocking=True,
)
def unclosed_script() -> Words:
    """A script that isn't closed

    A script begins and ends with three quotes.
    """
    return Words('this script has no closing `"""`', label="it begins here", help='end it with `"""`')


@mistake(
    "WQ108",
    Level.ERROR,
    bad=_FILE.replace("b c", r"b\sc"),
    good=_FILE,
    blocking=True,
)
def unknown_escape(written: str) -> Words:
    r"""A backslash before a character that it means nothing before

    Strings have the escapes `\"`, `\\`, `\n`, `\t` and `\uXXXX` with four hexadecimal digits. Scripts have
    none.
    """
    if written.startswith("\\u"):
        return Words(r"`\u` takes four hexadecimal digits", help=r"write for example `\u00e9`")
    return Words(
        f"there is no escape `{written}`",
        help='a backslash is written `\\\\`; the escapes are `\\"`, `\\\\`, `\\n`, `\\t` and `\\uXXXX`',
    )


@mistake(
    "WQ109",
    Level.ERROR,
    bad=_FILE.replace("b c", "${b c}"),
    good=_FILE.replace("b c", "$${b c}"),
    blocking=True,
)
def malformed_hole(written: str) -> Words:
    """Something other than a param's name in `${…}`

    `${name}` puts the value of a param into a string. For these characters themselves, write `$${`.
    """
    return Words(
        f"`{written}` doesn't name a param", help="write `${name}`, or `$${` for these characters themselves"
    )


@mistake(
    "WQ110",
    Level.ERROR,
    bad=_FILE.replace('"b c"', "'b c'"),
    good=_FILE,
    blocking=True,
)
def single_quotes(meant: str) -> Words:
    """A string in single quotes

    Strings stand between double quotes. Single quotes are for strings within conditions.
    """
    return Words("a string stands between double quotes", help=f"write `{meant}`")


@mistake(
    "WQ111",
    Level.ERROR,
    bad=_FILTER.replace("param.kind", '"${kind}"'),
    good=_FILTER,
    blocking=True,
)
def hole_in_condition(name: str) -> Words:
    """`${…}` within a condition

    A condition is a CEL expression, whose strings are CEL's: nothing is put into them. It reads params by
    name.
    """
    return Words("conditions have no `${…}`", help=f"use `param.{name}` outside of the string")


@mistake(
    "WQ112",
    Level.ERROR,
    bad=_FILE.replace('["a"]', "{ a = " + "[" * 70 + "]" * 70 + " }"),
    good=_FILE,
    blocking=True,
)
def too_deep(limit: int) -> Words:
    """Brackets nested too deeply"""
    return Words(f"brackets may be nested {limit} deep", label="this one is deeper")


@mistake(
    "WQ113",
    Level.ERROR,
    bad=_FILE + "# and so on\n",
    good=_FILE,
    blocking=True,
)
def too_large(size: int, limit: int) -> Words:
    """A file that is too large

    A file may have 4,194,304 characters (picture the example as longer). Nobody writes such a file by hand;
    whatever made it can make several workflows, or libraries to import.
    """
    return Words(
        f"a file may have {limit:,} characters and this one has {size:,}",
        help="divide it into several workflows",
    )


@mistake(
    "WQ114",
    Level.ERROR,
    bad=_FILE.replace("queue q {", "queue my_Queue {"),
    good=_FILE.replace("queue q {", "queue my_queue {"),
    blocking=True,
)
def malformed_name(written: str, meant: str) -> Words:
    """A name in a form that names don't have

    Names are made of lower-case letters and digits, in words that single `_` join: `old_jobs`, `zone_2`. What
    is made of them in Kubernetes has `-` instead.
    """
    return Words(
        f"`{written}` is not a name",
        help=(f"write `{meant}`: " if meant else "")
        + "names are lower-case words joined by `_`, and begin with a letter",
    )


@mistake(
    "WQ115",
    Level.ERROR,
    bad=_FILE.replace("queue q {", 'queue "q" {'),
    good=_FILE,
    blocking=True,
)
def quoted_name(block: str, also: tuple[Span, ...], meant: str) -> Words:
    """A quoted name

    Names stand without quotes, and a source's kind after a colon: `source films: files { … }`.
    """
    return Words(
        f"the name of a {block} has no quotes",
        also=tuple(Label(span, "nor has this") for span in also),
        help=f"write `{meant}`",
    )
