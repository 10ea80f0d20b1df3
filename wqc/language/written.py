"""Places inside a value as it was written: the entry of a map, the item of a list."""

from wqc.diagnostics.source import Span
from wqc.language import syntax

Step = str | int
"""A key of a map or an index of a list."""


def value_place(value: syntax.Value, path: tuple[Step, ...]) -> Span:
    """Where what `path` leads to stands, or as near as the text goes: a param's value stands elsewhere."""
    return _inside(value, path)[1]


def key_place(value: syntax.Value, path: tuple[Step, ...]) -> Span:
    """Where the key stands that `path` ends in; like `value_place` where that is no key of a map."""
    return _inside(value, path)[0]


def _inside(value: syntax.Value, path: tuple[Step, ...]) -> tuple[Span, Span]:
    key = value.span
    for step in path:
        found = _step(value, step)
        if found is None:
            break
        key, value = found
    return key, value.span


def _step(value: syntax.Value, step: Step) -> tuple[Span, syntax.Value] | None:
    if isinstance(value, syntax.ListValue) and isinstance(step, int) and step < len(value.items):
        return value.items[step].span, value.items[step]
    if isinstance(value, syntax.MapValue):
        for entry in value.entries:
            if key_text(entry) == step:
                return entry.key.span, entry.value
    return None


def key_text(entry: syntax.Entry) -> str:
    """The key of a map's entry; params in it stand as they are written."""
    if isinstance(entry.key, syntax.Name):
        return entry.key.text
    return "".join(part if isinstance(part, str) else f"${{{part.text}}}" for part in entry.key.parts)
