"""Workers and params of a workflow's own file that nothing mentions."""

import re
from collections.abc import Iterator

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import names as mistakes
from wqc.language.syntax import (
    Block,
    Call,
    Document,
    Expression,
    ListValue,
    MapValue,
    Name,
    Path,
    Range,
    String,
    Value,
)

_PARAM = re.compile(r"\bparam\.([a-z][a-z0-9_]*)")
"""In a condition."""


def check_unused(document: Document) -> Iterator[Finding]:
    blocks = [each for each in document.statements if isinstance(each, Block)]
    used: set[str] = set()
    for block in blocks:
        _add_mentioned(block, used)
    for block in blocks:
        if block.kind.text in ("worker", "param") and block.name and block.name.text not in used:
            yield mistakes.unused(block.name.span, block.kind.text, block.name.text)


def _add_mentioned(block: Block, used: set[str]) -> None:
    if block.base and block.kind.text == "worker":
        used.add(block.base.names[0].text)
    for entry in block.attributes or ():
        _add_names(entry.value, used)
    if block.value:
        _add_names(block.value, used)


def _add_names(value: Value, used: set[str]) -> None:
    match value:
        case String(parts):
            used.update(part.text for part in parts if isinstance(part, Name))
        case Path(names):
            # `param.x` is a condition's
            used.add(names[1].text if names[0].text == "param" and len(names) > 1 else names[0].text)
        case Expression(span):
            used.update(_PARAM.findall(span.text))
        case Range(low, high):
            _add_names(low, used)
            _add_names(high, used)
        case Call(_, arguments, keywords):
            for argument in arguments:
                _add_names(argument, used)
            for keyword in keywords:
                _add_names(keyword.value, used)
        case ListValue(items):
            for item in items:
                _add_names(item, used)
        case MapValue(entries):
            for entry in entries:
                _add_names(entry.value, used)
