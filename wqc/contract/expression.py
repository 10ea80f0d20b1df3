"""CEL expressions over items (https://github.com/google/cel-spec), compiled and evaluated by the CEL
project's own library.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cel_expr_python import cel

Param = str | int | float | bool
DEEPEST = 1000
"""Levels of lists and maps in an item's data."""
ITEM_VARIABLES = ("item.name", "item.version", "item.data")

_TYPES = {
    "string": cel.Type.STRING,
    "int": cel.Type.INT,
    "double": cel.Type.DOUBLE,
    "bool": cel.Type.BOOL,
    "dyn": cel.Type.DYN,
}
_PROBLEM = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")


@dataclass(frozen=True, slots=True)
class Problem:
    """What the CEL compiler says about a place; line and column from 1."""

    line: int
    column: int
    text: str


class InvalidExpression(ValueError):
    """The text doesn't compile; `problems` says where and why."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(problem.text for problem in problems))
        self.problems = problems


class EvaluationFailed(ValueError):
    """The expression gave no value for an item, for the reason in its text (a missing key, types that don't
    fit).
    """


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression; `result` is its static type's name in CEL (`BOOL`, `DYN`, …)."""

    text: str
    result: str
    _compiled: cel.Expression
    _fields: tuple[tuple[str, str], ...]
    _params: tuple[tuple[str, Param], ...]

    def evaluate(self, name: str, version: str, data: object) -> Any:
        """The value for one item: bool, int, float, str, bytes, None, or lists and dicts of them.

        Raises EvaluationFailed.
        """
        bound: dict[str, object] = {"item.name": name, "item.version": version}
        if self._fields:
            known = data if isinstance(data, Mapping) else {}
            bound |= {f"item.data.{field}": known[field] for field, _ in self._fields if field in known}
        else:
            bound["item.data"] = data
        _check(bound)
        return self._value(bound, ())

    def known(self, unset: Collection[str] = ()) -> Any:
        """The value for every item, where it is known without one: `&&`, `||` and `? :` need no operand that
        can't change what they give (https://github.com/google/cel-spec, Logical Operators).

        The params in `unset` are as unknown as the item is. Raises EvaluationFailed.
        """
        return self._value({}, unset)

    def _value(self, bound: dict[str, object], unset: Collection[str]) -> Any:
        bound |= {f"param.{param}": value for param, value in self._params if param not in unset}
        try:
            value = self._compiled.eval(data=bound)
        except RuntimeError as error:
            raise EvaluationFailed(str(error)) from None
        if value.type() == cel.Type.ERROR:
            raise EvaluationFailed(str(value.value()))
        return value.plain_value()


def _check(bound: dict[str, object]) -> None:
    """The library sees a text up to its first NUL only, and none that UTF-8 can't carry; what is nested very
    deeply exhausts its stack. Raises EvaluationFailed.
    """
    level: list[object] = [*bound.values()]
    for _ in range(DEEPEST):
        inner: list[object] = []
        for value in level:
            if isinstance(value, str):
                if _is_cut(value):
                    raise EvaluationFailed(
                        "it has a text that no condition can read: NUL, or half a character"
                    )
            elif isinstance(value, dict):
                inner += [*value, *value.values()]
            elif isinstance(value, list):
                inner += value
        if not inner:
            return
        level = inner
    raise EvaluationFailed(f"it is nested deeper than the {DEEPEST} levels that a condition can read")


def _is_cut(text: str) -> bool:
    return "\0" in text or not (text.isascii() or _is_utf8(text))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=4096)
def compile_expression(
    text: str, fields: tuple[tuple[str, str], ...] = (), params: tuple[tuple[str, Param], ...] = ()
) -> Expression:
    """Compile `text`, in which `item.name`, `item.version` and `item.data` stand for the item and `param.x`
    for params.

    `fields` are the known fields of `item.data` and their types (`string`, `int`, …); without any, it may
    hold anything.
    Raises InvalidExpression.
    """
    try:
        compiled = _environment(fields, params).compile(text)
    except RuntimeError as error:
        raise InvalidExpression(_problems(str(error))) from None
    return Expression(text, compiled.return_type().name(), compiled, fields, params)


@lru_cache(maxsize=256)
def _environment(fields: tuple[tuple[str, str], ...], params: tuple[tuple[str, Param], ...]) -> cel.Env:
    variables = {"item.name": cel.Type.STRING, "item.version": cel.Type.STRING}
    if fields:
        variables |= {f"item.data.{field}": _TYPES[type] for field, type in fields}
    else:
        variables["item.data"] = cel.Type.DYN
    variables |= {f"param.{name}": _param_type(value) for name, value in params}
    return cel.NewEnv(variables=variables)


def _param_type(value: Param) -> cel.Type:
    match value:
        case bool():
            return cel.Type.BOOL
        case int():
            return cel.Type.INT
        case float():
            return cel.Type.DOUBLE
        case str():
            return cel.Type.STRING


def _problems(message: str) -> tuple[Problem, ...]:
    found = _PROBLEM.findall(message)
    if not found:
        return (Problem(1, 1, message),)
    return tuple(Problem(int(line), int(column), text) for line, column, text in found)
