"""Random texts in the language: valid as far as the grammar goes, whatever they would mean."""

from hypothesis import strategies as st

from wqc.language.place import name_from

RESERVED = {"item", "param", "each", "true", "false", "null", "in", "import"}
CEL_LITERALS = ("true", '"TW"', "'x'", "3", "0.5", "1e3", "0x1F", "null", r"'a\d'", 'r"a\\"', "b'x'")
OPERATORS = ("&&", "||", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "in")

words = st.from_regex(r"[a-z][a-z0-9]{0,6}(_[a-z0-9]{1,4}){0,2}", fullmatch=True)
names = words.filter(lambda word: word not in RESERVED and name_from(word) == word)
keys = st.one_of(names, st.sampled_from(["TEMPLATE", "LOG_LEVEL", '"a/b"', '"nvidia.com/gpu"', '"\\u00e9"']))
blanks = st.sampled_from(["", " ", "  ", "\t"])
comments = st.from_regex(r"#[ -~]{0,20}", fullmatch=True)

_characters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters='"\\$')
_pieces = st.one_of(
    st.text(_characters, max_size=8),
    st.sampled_from([r"\"", r"\\", r"\n", r"\t", r"\u00e9", "$${", "$", "#", "//", "{", "}", ","]),
    names.map(lambda name: "${" + name + "}"),
)
strings = st.lists(_pieces, max_size=4).map(lambda pieces: '"' + "".join(pieces) + '"')
numbers = st.one_of(st.integers(-99, 9999).map(str), st.sampled_from(["0.4", "0", "-0.25", "007"]))
measures = st.sampled_from(["500m", "1h30m", "80Gi", "0.5s", "10d", "800ms", "2.5Gi"])
paths = st.lists(names, min_size=1, max_size=3).map(".".join)
sides = st.one_of(numbers, measures, paths)
ranges = st.tuples(sides, blanks, sides).map(lambda parts: f"{parts[0]}{parts[1]}..{parts[1]}{parts[2]}")


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """A script on one line or several, indented in any way."""
    line = st.text(
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters='"'), max_size=20
    )
    if draw(st.booleans()):
        return f'"""{draw(line)}"""'
    indent = draw(st.sampled_from(["", "  ", "      ", "\t"]))
    lines = draw(st.lists(st.tuples(st.sampled_from(["", "", " ", "    "]), line), min_size=1, max_size=5))
    body = "".join(f"{indent}{more}{text}\n" for more, text in lines)
    return f'"""{draw(st.sampled_from(["", " ", "set -x"]))}\n{body}{indent}"""'


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """A CEL expression that is more than a value."""
    depth = draw(st.integers(0, 2))
    return _condition(draw, depth)


def _condition(draw: st.DrawFn, depth: int) -> str:
    operand = st.one_of(st.sampled_from(CEL_LITERALS), paths.map(lambda path: f"item.data.{path}"))
    if depth == 0:
        left = draw(operand)
    else:
        inner = _condition(draw, depth - 1)
        form = draw(
            st.sampled_from(["({})", "!({})", "-({})", "[{}][0]", "has({})", "({}).size()", "({} ? 1 : 2)"])
        )
        left = form.format(inner)
    space = draw(st.sampled_from([" ", "  ", "\n      ", " # why\n  "]))
    right = draw(
        st.one_of(operand, st.sampled_from(["[1, 'b']", '{"a": 1}', "x.map(y, y + 1)", "f(1).g[2]"]))
    )
    return f"{left} {draw(st.sampled_from(OPERATORS))}{space}{right}"


@st.composite
def _gap(draw: st.DrawFn) -> str:
    """What may stand between two parts of a list or a call."""
    return draw(st.sampled_from(["", " ", "\n", "\n\n\n", "\n  # note\n", "  # beside\n\t"]))


def _lists(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(st.lists(inner, max_size=4), _gap(), st.booleans()).map(
        lambda drawn: (
            "["
            + f",{drawn[1]}".join([drawn[1] + drawn[0][0], *drawn[0][1:]] if drawn[0] else [drawn[1]])
            + ("," if drawn[2] and drawn[0] else "")
            + drawn[1]
            + "]"
        )
    )


@st.composite
def _calls(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    keywords = st.tuples(names, inner).map(lambda pair: f"{pair[0]} = {pair[1]}")
    parts = draw(st.lists(inner, max_size=2)) + draw(st.lists(keywords, max_size=2))
    gap = draw(_gap())
    return f"{draw(names)}({gap}{f',{gap}'.join(parts)}{gap if parts else ''})"


@st.composite
def _maps(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    return "{" + draw(bodies(inner)) + "}"


@st.composite
def bodies(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    """What stands between the braces of a block or a map."""
    text = draw(st.sampled_from(["", " ", "\n", "  # first\n", "\n\n  # own\n"]))
    for key, value in draw(st.lists(st.tuples(keys, inner), max_size=4)):
        equals = draw(blanks) + "=" + draw(blanks)
        end = draw(st.sampled_from([", ", ",\n", "\n", "\n\n\n", "  # beside\n", ", # beside\n# own\n"]))
        text += key + equals + value + end
    return text


plain_values = st.one_of(
    strings, numbers, measures, paths, ranges, st.sampled_from(["true", "false", "null"])
)
values = st.recursive(
    st.one_of(plain_values, scripts(), conditions()),
    lambda inner: st.one_of(_lists(inner), _calls(inner), _maps(inner)),
    max_leaves=6,
)


@st.composite
def statements(draw: st.DrawFn) -> str:
    """A block or an import."""
    kind, name = draw(names), draw(names)
    base = draw(st.one_of(st.just(""), paths.map(lambda path: f":{draw(blanks)}{path}")))
    form = draw(st.sampled_from(["body", "body", "body", "value", "bare", "unnamed", "import"]))
    match form:
        case "import":
            return f'import "{draw(names)}.wq" as {name}'
        case "value":
            return f"{kind} {name}{base} ={draw(blanks)} {draw(values)}"
        case "bare":
            return f"{kind} {name}{base}"
        case "unnamed":
            return f"{kind} {{{draw(bodies(values))}}}"
    parameters = draw(st.lists(names, max_size=3))
    listed = f"({', '.join(parameters)})" if parameters else ""
    return f"{kind} {name}{listed}{base} {{{draw(bodies(values))}}}"


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A `.wq` file."""
    text = draw(st.sampled_from(["", "\n\n", "# first\n\n"]))
    for statement in draw(st.lists(statements(), max_size=5)):
        text += statement + draw(
            st.sampled_from(["\n", "\n\n\n", "  # beside\n", "\n# own\n", "\n\n  # own\n\n"])
        )
    return text
