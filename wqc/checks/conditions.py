"""Whether conditions and keys can be evaluated, and mean something."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from wqc.checks.condition_problems import problems
from wqc.checks.condition_text import ConditionText
from wqc.contract.expression import (
    ITEM_VARIABLES,
    EvaluationFailed,
    Expression,
    InvalidExpression,
    Param,
    compile_expression,
)
from wqc.diagnostics.finding import Finding, Level
from wqc.diagnostics.mistake import at_level
from wqc.diagnostics.mistakes import conditions as mistakes
from wqc.language.values import Condition
from wqc.model.flow import Flow
from wqc.model.nodes import Filter, Node, Sharder, Splitter
from wqc.model.streams import Fields

_RESULTS = {
    "BOOL": "true or false",
    "BYTES": "bytes",
    "DOUBLE": "a number",
    "DURATION": "a duration",
    "INT": "an integer",
    "LIST": "a list",
    "MAP": "a map",
    "NULL": "null",
    "STRING": "a string",
    "TIMESTAMP": "a time",
    "TYPE": "a type",
    "UINT": "an integer",
}
_COMPARED = ("DOUBLE", "INT", "STRING", "UINT")
_NO_KEYS = ("DURATION", "TIMESTAMP", "TYPE")


def check_conditions(flow: Flow) -> list[Finding]:
    """Conditions see the params and, where they are known, the fields of the items that their node reads."""
    findings: list[Finding] = []
    for node in flow.workflow.nodes.values():
        match node:
            case Filter():
                conditions: tuple[Condition, ...] = (node.where,)
            case Splitter():
                conditions = tuple(node.cases.values())
            case Sharder():
                conditions = (node.key,)
            case _:
                continue
        fields = flow.streams.shape(node.source).fields
        for condition in conditions:
            findings += _condition(node, condition, fields, flow.workflow.params)
    return findings


def _condition(
    node: Filter | Splitter | Sharder,
    condition: Condition,
    fields: Fields,
    params: Sequence[tuple[str, Param]],
) -> Iterator[Finding]:
    text = ConditionText(condition)
    data = [f"item.data.{field}" for field, _ in fields]
    known = [*(name for name in ITEM_VARIABLES if not (data and name == "item.data")), *data]
    known += [f"param.{name}" for name, _ in params]
    needless = [path for path in text.asked if ".".join(path.names) in (*known, "item.data")]
    if needless:
        for path in needless:
            yield mistakes.has_of_declared(text.span(path.start, path.ends[-1]), ".".join(path.names))
        return
    try:
        expression = compile_expression(condition.text, fields, tuple(params))
    except InvalidExpression as error:
        yield from problems(text, error.problems, known)
        return
    yield from _patterns(text)
    result, _, _ = expression.result.partition("<")
    if isinstance(node, Sharder):
        if result in _NO_KEYS:
            yield mistakes.wrong_result(
                condition.span, "a key", _RESULTS[result], "`string(…)` makes a key of it"
            )
            return
    elif result not in ("BOOL", "DYN"):
        hint = "compare it with something" if result in _COMPARED else ""
        yield mistakes.wrong_result(condition.span, "true or false", _RESULTS.get(result, result), hint)
        return
    if constant := _constant(node, condition, expression, text):
        yield constant
    elif not fields and not isinstance(node, Sharder):
        yield from _missing_fields(node, text)


def _constant(
    node: Node, condition: Condition, expression: Expression, text: ConditionText
) -> Finding | None:
    """The finding where no item changes what the condition gives."""
    names = dict.fromkeys(path.value[1] for path in text.paths if path.names[0] == "param" and path.value[1:])
    params = list(names)
    try:
        value = expression.known()
        always = str(value).lower() if isinstance(value, bool) else "the same"
    except EvaluationFailed as error:
        if any(path.names[0] == "item" for path in text.paths):
            return None
        always = f"a failure ({error})"
    with suppress(EvaluationFailed):
        expression.known(unset=params)
        params = []
    if isinstance(node, Sharder):
        hint = "all items go to one shard; use a field that tells them apart"
    else:
        hint = "use something of the item (`item.name`, `item.data`), or do without the condition"
    finding = mistakes.constant_condition(condition.span, always, hint, [f"param.{name}" for name in params])
    return at_level(finding, Level.NOTE) if params else finding


def _missing_fields(node: Node, text: ConditionText) -> Iterator[Finding]:
    asked = [path.names for path in text.asked]
    unsure = {
        path.value: path
        for path in reversed(text.paths)
        if path.value[:2] == ("item", "data") and len(path.value) > 2 and path.value not in asked
    }
    if unsure:
        first = min(unsure.values(), key=lambda path: path.start)
        fields = [".".join(names) for names in reversed(unsure)]
        span = text.span(first.start, first.ends[len(first.value) - 1])
        yield mistakes.field_may_be_missing(span, fields, node.name)


def _patterns(text: ConditionText) -> Iterator[Finding]:
    """Patterns that are written out are tried on an empty string."""
    for span in text.patterns():
        try:
            compile_expression(f"''.matches({span.text})").evaluate("", "", None)
        except EvaluationFailed as error:
            yield mistakes.unreadable_pattern(span, str(error).rpartition("regular expression: ")[2])
