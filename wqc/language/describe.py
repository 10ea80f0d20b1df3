"""Types and values in words, for messages and the reference."""

from wqc.language import syntax
from wqc.language.types import (
    CallOf,
    Cel,
    CpuType,
    Data,
    DurationType,
    Flag,
    Fraction,
    Integer,
    ListOf,
    MapOf,
    MemoryType,
    OneOf,
    RangeOf,
    ReferenceTo,
    ScriptText,
    Struct,
    Text,
    Type,
    Word,
)


def type_words(type: Type) -> str:
    """`DurationType()` → "a duration such as `30s`"."""
    match type:
        case Text():
            return "a string"
        case ScriptText():
            return "a string or a script"
        case Integer():
            return "a whole number"
        case Fraction():
            return "a number"
        case Flag():
            return "`true` or `false`"
        case DurationType():
            return "a duration such as `30s`"
        case CpuType():
            return "a number of cores such as `2` or `500m`"
        case MemoryType():
            return "an amount of memory such as `512Mi`"
        case RangeOf():
            return f"{type_words(type.inner)}, or a range `low..high`"
        case OneOf() | Word() | CallOf():
            return alternatives(_choices(type))
        case ReferenceTo():
            return f"the name of a {type.what}"
        case ListOf():
            return f"a list: {type_words(type.inner)} for each entry"
        case MapOf():
            return f"a map: {type_words(type.inner)} for each key"
        case Struct():
            return "a map with the keys " + ", ".join(f"`{field.name}`" for field in type.fields)
        case Cel():
            return "a condition" if type.result == "bool" else "an expression"
        case Data():
            return "literal data"


def _choices(type: Type) -> list[str]:
    match type:
        case OneOf():
            return [words for choice in type.choices for words in _choices(choice)]
        case Word():
            return [f"`{option}`" for option in type.options]
        case CallOf():
            return [f"`{function}(…)`" for function in type.functions]
        case ScriptText():
            return ["a string", "a script"]
    return [type_words(type)]


def alternatives(words: list[str]) -> str:
    """`["a", "b", "c"]` → "a, b or c"."""
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def value_words(value: syntax.Value) -> str:
    """`Number("3")` → "the number `3`"."""
    match value:
        case syntax.String():
            return "a string"
        case syntax.Script():
            return "a script"
        case syntax.Number():
            return f"the number `{value.text}`"
        case syntax.Measure():
            return f"the measure `{value.text}`"
        case syntax.Constant():
            return f"`{value.span.text}`"
        case syntax.Path():
            return f"the name `{value.text}`"
        case syntax.Range():
            return "a range"
        case syntax.Call():
            return f"a call of `{value.function.text}`"
        case syntax.ListValue():
            return "a list"
        case syntax.MapValue():
            return "a map"
        case syntax.Expression():
            return "an expression"
        case syntax.Broken():
            return "what can't be read"
