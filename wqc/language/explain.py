"""From a place where reading stopped to the finding that says what is wrong there."""

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import characters, names, syntax
from wqc.diagnostics.source import Span
from wqc.language.place import Head, Place, name_from

_OPERATOR_WORDS = {"and": "&&", "or": "||", "not": "!"}
_ENDS_VALUE = frozenset(
    {"NAME", "STRING", "SCRIPT", "NUMBER", "MEASURE", "CEL_STRING", "RPAR", "RSQB", "RBRACE"}
)
_BEGINS_VALUE = frozenset({"NAME", "STRING", "SCRIPT", "NUMBER", "MEASURE", "CEL_STRING", "LSQB", "LBRACE"})
_OPERATORS = frozenset({"OPERATOR", "MINUS", "IN", "BANG", "QMARK", "COLON", "RANGE", "DOT"})
_CLOSERS = frozenset({"RPAR", "RSQB", "RBRACE"})


def explain(place: Place) -> Finding:
    """What is wrong at a place."""
    if place.top:
        found = _in_head(place)
        if found:
            return found
    if place.is_block():
        word = place.span(-1)
        return syntax.block_within(word, word.text)
    return (
        _operator_word(place)
        or _name_with_sign(place)
        or _missing(place)
        or _between(place)
        or _comma(place)
        or _unexpected(place)
    )


def _in_head(place: Place) -> Finding | None:
    head = place.head()
    begin = place.start - place.at
    if head is None:
        if place.at > place.start:
            return None
        return syntax.no_block(place.span(), _found(place))
    if place.at > head.stop:
        return None
    quoted = [index for index in range(place.start, head.stop) if place.tokens[index][0] == "STRING"]
    if head.kind.text == "import":
        return syntax.malformed_import(place.span(begin).to(head.span), _import_meant(place, quoted))
    if quoted:
        spans = [place.span(index - place.at) for index in quoted]
        return characters.quoted_name(spans[0], head.kind.text, tuple(spans[1:]), _head_meant(head))
    if place.kind() == "EQUAL" and place.at == place.start + 1:
        return syntax.attribute_outside(head.kind.span, head.kind.text)
    joined = place.joined_name(place.at - 1) if place.kind() in ("MINUS", "DOT") else None
    if joined:
        return characters.malformed_name(joined.span, joined.span.text, joined.text)
    if place.kind() == "IN" and place.at == place.start + 1:
        return names.reserved_name(place.span(), place.text())
    if place.kind() in ("MEASURE", "NUMBER") and place.at == place.start + 1:
        return characters.malformed_name(place.span(), place.text(), name_from(place.text()))
    if place.kind() == "NAME" and place.at == place.start + 2 and head.name and place.has_kinds():
        return syntax.kind_without_colon(place.span(), head.kind.text, head.name.text, place.text())
    return None


def _operator_word(place: Place) -> Finding | None:
    for offset in (0, -1):
        word = place.text(offset)
        if place.kind(offset) == "NAME" and word in _OPERATOR_WORDS:
            return syntax.word_for_operator(place.span(offset), word, _OPERATOR_WORDS[word])
    return None


def _name_with_sign(place: Place) -> Finding | None:
    """`max-retries = 3`, which so far was a subtraction, or `env.LEVEL = "1"`."""
    joined = place.joined_name(place.start)
    if joined and place.kind() == "EQUAL" and joined.span.end == place.span(-1).end:
        outer, dot, inner = joined.span.text.partition(".")
        meant = f"{outer} = {{ {inner} = … }}" if dot else joined.text
        return characters.malformed_name(joined.span, joined.span.text, meant)
    return None


def _missing(place: Place) -> Finding | None:
    """Something ends or goes on where a value should stand."""
    if place.kind() == "EQUAL":
        if not place.assigned and not place.inside():
            return syntax.unexpected(place.span(), "`=`", "a name before it", "write `NAME = VALUE`")
        return syntax.equals_for_comparison(place.span())
    if place.kind() in _CLOSERS or place.kind() in ("_END", "COMMA"):
        if place.text(-1) == "%" and place.kind(-2) == "NUMBER" and place.kind(-3) == "EQUAL":
            return _percentage(place)
        if place.kind(-1) == "EQUAL" or place.kind(-1) in _OPERATORS:
            return syntax.missing_value(place.span(-1), place.text(-1))
        if place.kind() == "_END" and place.at == place.start + 1 and place.expects("EQUAL"):
            return syntax.missing_equals(place.span(-1), place.text(-1))
    return None


def _percentage(place: Place) -> Finding:
    from decimal import Decimal  # of use to nobody else, and not light to import

    number, sign = place.span(-2), place.span(-1)
    span = Span(place.source, number.start, sign.end)
    return syntax.percentage(span, span.text, str(Decimal(number.text) / 100))


def _between(place: Place) -> Finding | None:
    """Two things beside each other with nothing between them."""
    if place.kind() not in _BEGINS_VALUE or place.kind(-1) not in _ENDS_VALUE:
        return None
    if place.at == place.start + 1 and place.kind(-1) in ("NAME", "STRING") and place.expects("EQUAL"):
        return syntax.missing_equals(place.span(), place.text(-1))
    if place.kind(1) in ("EQUAL", "COLON") and not place.inside():
        return syntax.missing_separator(place.span(), place.text())
    if place.kind(-1) == "NUMBER" and place.kind() == "NAME":
        written = place.span(-1).to(place.span())
        return characters.malformed_number(written, written.text, place.text(-1) + place.text())
    return syntax.missing_comma(place.span(), place.span(-1)) if place.inside() else None


def _comma(place: Place) -> Finding | None:
    if place.text() != ",":
        return None
    if place.at == place.start or place.kind(-1) in ("COMMA", "LPAR", "LSQB"):
        return syntax.needless_comma(place.span())
    return None


def _unexpected(place: Place) -> Finding:
    at_end = place.kind() == "_END" and place.at > place.start
    span = place.span(-1) if at_end and not place.text() else place.span()
    return syntax.unexpected(span, _found(place), _expected(place), _unquoted(place))


def _unquoted(place: Place) -> str:
    """Advice for `image = host/name:1`: a text, read as names and operators as far as that went."""
    kinds = [kind for kind, *_ in place.tokens[place.start : place.at]]
    value = kinds[1:3] == ["EQUAL", "NAME"] and "QMARK" not in kinds
    if value and place.assigned and not place.inside():
        return "if a text is meant, put it between double quotes"
    return ""


def _found(place: Place) -> str:
    text = place.text()
    match place.kind():
        case "_END" | "$END":
            if text:
                return "`,`"
            return "`}`" if place.source.text.startswith("}", place.span().start) else "the end of the line"
        case "STRING" | "CEL_STRING":
            return "a string"
        case "SCRIPT":
            return "a script"
    return f"`{text}`"


def _expected(place: Place) -> str:
    if place.top and place.kind(-1) == "COLON":
        return "a type" if place.span(place.start - place.at).text == "param" else "a kind"
    if place.expects("NUMBER"):
        return "a value"
    kinds = [kind for kind, *_ in place.tokens[place.start : place.at]]
    if kinds.count("QMARK") > kinds.count("COLON"):
        return "`:` and what is taken otherwise"
    if place.expects("OPERATOR"):
        closers = {"LPAR": "`,` or `)`", "LSQB": "`,` or `]`"}
        return closers.get(place.inside(), "the end of the line")
    for symbol, words in (
        ("LBRACE", "`{`"),
        ("EQUAL", "`=`"),
        ("NAME", "a name"),
        ("RPAR", "`)`"),
    ):
        if place.expects(symbol):
            return words
    return "the end of the line"


def _head_meant(head: Head) -> str:
    name = f" {head.name.text}" if head.name else ""
    return f"{head.kind.text}{name}" + (f": {head.base.text}" if head.base else "")


def _import_meant(place: Place, quoted: list[int]) -> str:
    path = place.span(quoted[0] - place.at).text if quoted else '"FILE.wq"'
    stem = path.strip('"').rpartition("/")[2].removesuffix(".wq").rpartition(":")[2]
    return f"import {path} as {name_from(stem) or 'lib'}"
