"""Workers and params of a workflow's own file that nothing mentions."""

import re
from collections.abc import Iterator

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import names as mistakes
from wqc.language.syntax import (
    Block,
    Call,
    Document,
    Entry,
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
    used = {name for block in blocks for name in _mentioned(block)}
    for block in blocks:
        if block.kind.text in ("worker", "param") and block.name and block.name.text not in used:
            yield mistakes.unused(block.name.span, block.kind.text, block.name.text)


def _mentioned(block: Block) -> Iterator[str]:
    if block.base and block.kind.text == "worker":
        yield block.base.names[0].text
    for entry in block.attributes or ():
        yield from _names(entry.value)
    if block.value:
        yield from _names(block.value)


def _names(value: Value) -> Iterator[str]:
    match value:
        case String(parts):
            yield from (part.text for part in parts if isinstance(part, Name))
        case Path(names):
            # `param.x` is a condition's
            yield names[1].text if names[0].text == "param" and len(names) > 1 else names[0].text
        case Expression(span):
            yield from _PARAM.findall(span.source.text[span.start : span.end])
        case Range(low, high):
            yield from (*_names(low), *_names(high))
        case Call(_, arguments, keywords):
            for each in (*arguments, *_values(keywords)):
                yield from _names(each)
        case ListValue(items):
            for each in items:
                yield from _names(each)
        case MapValue(entries):
            for each in _values(entries):
                yield from _names(each)


def _values(entries: tuple[Entry, ...]) -> tuple[Value, ...]:
    return tuple(entry.value for entry in entries)
