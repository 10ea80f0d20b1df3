"""What CEL's compiler says, in the words of this language."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wqc.checks.condition_text import ConditionText
from wqc.contract.expression import ITEM_VARIABLES, Problem
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import conditions as mistakes
from wqc.diagnostics.suggestion import did_you_mean, nearest
from wqc.diagnostics.wording import listed

FUNCTIONS = (
    "all",
    "bool",
    "bytes",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "exists",
    "exists_one",
    "filter",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "has",
    "int",
    "map",
    "matches",
    "size",
    "startsWith",
    "string",
    "timestamp",
    "type",
    "uint",
)
"""The functions and macros of CEL's standard library, for suggestions."""

_ELSEWHERE = {
    "len": "size",
    "length": "size",
    "str": "string",
    "float": "double",
    "True": "true",
    "False": "false",
    "None": "null",
    "nil": "null",
}
"""What other languages call what CEL has."""

_UNDECLARED = re.compile(r"undeclared reference to '(.+?)' \(in container")
_NO_OVERLOAD = re.compile(r"found no matching overload for '(.+)' applied to '\((.*)\)'")
_NO_FIELDS = re.compile(r"expression of type '(.+)' cannot be the operand of a select operation")
_MISSING = re.compile(r"missing '(.+)' at ")
_RESERVED = re.compile(r"reserved identifier: (\w+)")
_OPERATORS = {"@in": "in", "!_": "!", "-_": "-", "_[_]": "[ ]", "_?_:_": "? :"}
_TYPES = {
    "bool": "a boolean",
    "bytes": "bytes",
    "double": "a number",
    "dyn": "any value",
    "int": "an integer",
    "google.protobuf.Duration": "a duration",
    "google.protobuf.Timestamp": "a time",
    "null_type": "null",
    "string": "a string",
    "uint": "an unsigned integer",
}


def problems(text: ConditionText, found: Sequence[Problem], known: Sequence[str]) -> Iterator[Finding]:
    """All names and types that are wrong; of a text that can't be read only the first place.

    `known` are the names that the condition may use.
    """
    for problem in found:
        offset = text.offset(problem.line, problem.column)
        if undeclared := _UNDECLARED.match(problem.text):
            yield _undeclared(text, undeclared[1], offset, known)
        elif overload := _NO_OVERLOAD.match(problem.text):
            yield _overload(text, overload[1], overload[2], offset)
        elif no_fields := _NO_FIELDS.match(problem.text):
            field, span = text.token(offset + 1)
            yield mistakes.operation_without_types(span, field, [_type(no_fields[1])])
        else:
            yield _unreadable(text, problem.text, offset)
            return


def _undeclared(text: ConditionText, word: str, offset: int, known: Sequence[str]) -> Finding:
    path = text.path_of(word, offset)
    if path is None or path.called:
        span = text.span(path.start, path.ends[-1]) if path else text.before(offset)
        if word in FUNCTIONS:
            hint = f"`{word}` takes other arguments"
        else:
            hint = did_you_mean(_ELSEWHERE.get(word, word), FUNCTIONS)
        return mistakes.undeclared_in_condition(span, f"{word}()", hint)
    first, *rest = path.names
    if first == "item" and rest[:1] not in ([], ["data"]):
        word, path = f"item.{rest[0]}", replace(path, ends=path.ends[:2])
    span = text.span(path.start, path.ends[-1])
    return mistakes.undeclared_in_condition(span, word, _instead(word, known))


def _instead(word: str, known: Sequence[str]) -> str:
    """What to write for a name that isn't there."""
    prefix, _, name = word.rpartition(".")
    if word in ("item", "item.data", "param"):
        prefix, name = word, ""
    if f"param.{word.split('.')[0]}" in known:
        return f"params have `param.` before them: `param.{word.split('.')[0]}`"
    if word in _ELSEWHERE:
        return f"did you mean `{_ELSEWHERE[word]}`?"
    if f"item.{word.split('.')[0]}" in ITEM_VARIABLES:
        return f"did you mean `item.{word}`?"
    names = [each for each in known if each.rpartition(".")[0] == prefix]
    if prefix == "item":
        names = list(ITEM_VARIABLES)
    elif prefix not in ("item.data", "param"):
        near = nearest(word, [*known, *FUNCTIONS])
        return f"did you mean `{near or f'item.data.{word}'}`?"
    if not names:
        return "no param of the file can be used in conditions"
    near = nearest(name, [each.rpartition(".")[2] for each in names])
    there = f"there is {listed(names)}"
    return f"did you mean `{prefix}.{near}`? {there}" if near else there


def _overload(text: ConditionText, function: str, arguments: str, offset: int) -> Finding:
    operation = _OPERATORS.get(function, function.strip("_"))
    types = [_type(each) for each in _split(arguments)]
    token, span = text.token(offset)
    if token == "(":
        span = text.before(offset)
    if function == "_?_:_":
        question, *types = types
        if not arguments.startswith(("bool", "dyn")):
            return mistakes.wrong_result(span, "true or false", question, "put a condition before the `?`")
    if len(types) > 1 and len(set(types)) == 1:
        types = [f"`{each}`" for each in _split(arguments)[-len(types) :]]
    return mistakes.operation_without_types(span, operation, types)


def _unreadable(text: ConditionText, said: str, offset: int) -> Finding:
    token, span = text.token(offset)
    missing = _MISSING.search(said)
    reserved = _RESERVED.match(said)
    hint = ""
    if reserved:
        reason, hint = (
            f"`{reserved[1]}` is a word that CEL keeps for itself",
            f'write `item.data["{reserved[1]}"]`',
        )
    elif said.startswith("invalid int literal"):
        reason = "this number is too large"
    elif "recursion limit" in said:
        reason = "it is nested too deeply"
    elif missing and token:
        reason = f"`{missing[1]}` is missing before `{token}`"
    elif missing:
        reason = f"`{missing[1]}` is missing at its end"
    elif said.startswith("Syntax error") and not token:
        reason = "something is missing at its end"
    elif said.startswith("Syntax error"):
        reason = f"`{token}` isn't expected"
        if text.after_digit(offset):
            hint = "conditions have no units: write the number alone"
        elif token == "=":
            hint = "`==` compares, and a map's entries are written `key: value`"
    else:
        reason = said
    return mistakes.unreadable_condition(span, reason, hint)


def _split(types: str) -> list[str]:
    """At the commas that aren't within brackets."""
    parts, depth = [""], 0
    for letter in types:
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _type(name: str) -> str:
    for opening, word in (("list(", "a list"), ("map(", "a map"), ("wrapper(", "a value")):
        if name.startswith(opening):
            return word
    return _TYPES.get(name, name)
