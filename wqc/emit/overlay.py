"""Raw fields merged into YAML that is already written, whose order, style and comments stay.

Maps are merged, field by field; null takes a field away. Of lists, those whose entries all have a
`mountPath` (volumeMounts) or else a `name` (containers, volumes, env, …) are merged by it, as Kubernetes' own
patches do, new entries at the end; any other list is replaced, as is a scalar.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wqc.emit.yaml_text import mapping_lines, sequence_lines

_MERGE_KEYS = ("mountPath", "name")


@dataclass(frozen=True, slots=True)
class Edit:
    """The lines from `start` up to, not including, `end` become `lines`, which stand at `column`."""

    start: int
    end: int
    column: int
    lines: list[str]


def merged(text: str, layers: tuple[Mapping[str, Any], ...]) -> str:
    """`text`, a block mapping, with each layer merged into it."""
    for layer in layers:
        text = _with_layer(text, layer)
    return text


def _with_layer(text: str, layer: Mapping[str, Any]) -> str:
    import yaml

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    lines = text.split("\n")
    edits: list[Edit] = []
    _merge(root, layer, lines, edits)
    # of what is added at one place, what belongs to the inner block comes first
    edits.sort(key=lambda edit: (edit.start, edit.end, -edit.column))
    for edit in reversed(edits):
        lines[edit.start : edit.end] = edit.lines
    return "\n".join(lines)


def _merge(node: Any, layer: Mapping[str, Any], lines: list[str], edits: list[Edit]) -> None:
    column = node.start_mark.column
    present = {key.value: (key, value) for key, value in node.value}
    for name, given in layer.items():
        if name not in present:
            if given is not None:
                after = _end(node, lines)
                edits.append(Edit(after, after, column, _lines({name: given}, column)))
            continue
        key, value = present[name]
        if given is None:
            edits.append(Edit(_start(key, lines), _end(value, lines), column, []))
        elif isinstance(given, Mapping) and _is_block(value, "mapping") and _leaves_some(value, given):
            _merge(value, given, lines, edits)
        elif _is_block(value, "sequence") and (by := _merge_key(value, given)):
            _merge_entries(value, by, given, lines, edits)
        else:
            first = key.start_mark.line
            new = _lines({name: given}, column)
            new[0] = lines[first][:column] + new[0][column:]
            edits.append(Edit(first, _end(value, lines), column, new))


def _leaves_some(node: Any, layer: Mapping[str, Any]) -> bool:
    """Whether any field remains."""
    rest = {key.value for key, _ in node.value} - {name for name, given in layer.items() if given is None}
    return bool(rest) or any(given is not None for given in layer.values())


def _merge_entries(
    node: Any, by: str, given: list[dict[str, Any]], lines: list[str], edits: list[Edit]
) -> None:
    present = {_field(entry, by): entry for entry in node.value}
    for entry in given:
        if entry[by] in present:
            rest = {key: value for key, value in entry.items() if key != by}
            _merge(present[entry[by]], rest, lines, edits)
        else:
            after = _end(node, lines)
            column = node.start_mark.column
            new = [" " * column + line if line else "" for line in sequence_lines([_without_nulls(entry)])]
            edits.append(Edit(after, after, column, new))


def _is_block(node: Any, kind: str) -> bool:
    return bool(node.id == kind and not node.flow_style)


def _merge_key(node: Any, given: Any) -> str:
    """The field by which a list's entries are told apart; empty where the list is replaced as a whole."""
    if not isinstance(given, list) or not all(isinstance(entry, Mapping) for entry in given):
        return ""
    for by in _MERGE_KEYS:
        if all(_field(entry, by) for entry in node.value) and all(by in entry for entry in given):
            return by
    return ""


def _field(node: Any, name: str) -> str:
    if node.id == "mapping":
        for key, value in node.value:
            if key.value == name:
                return str(value.value)
    return ""


def _start(key: Any, lines: list[str]) -> int:
    """The key's line, or that of the comment above it."""
    line = int(key.start_mark.line)
    while line and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line


def _end(node: Any, lines: list[str]) -> int:
    """The number of the line after the node's last."""
    if _is_block(node, "mapping") and node.value:
        return _end(node.value[-1][1], lines)
    if _is_block(node, "sequence") and node.value:
        return _end(node.value[-1], lines)
    if node.id == "scalar" and node.style == "|":
        return int(node.end_mark.line)  # where the next token stands
    return int(node.end_mark.line) + 1


def _lines(value: Mapping[str, Any], column: int) -> list[str]:
    return [" " * column + line if line else "" for line in mapping_lines(_without_nulls(value))]


def _without_nulls(value: Any) -> Any:
    match value:
        case Mapping():
            return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
        case list():
            return [_without_nulls(inner) for inner in value]
        case _:
            return value
