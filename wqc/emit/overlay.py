"""Raw fields merged into YAML that is already written, whose order, style and comments stay.

Maps are merged, field by field; null takes a field away. Of lists, those whose entries all have a `name`
(containers, volumes, …) are merged by it, new entries at the end; any other list is replaced, as is a scalar.
"""

from collections.abc import Mapping
from typing import Any

from wqc.emit.yaml_text import mapping_lines, sequence_lines

Replacement = tuple[int, int, list[str]]
"""The lines from the first number up to, not including, the second become these."""


def merged(text: str, layers: tuple[Mapping[str, Any], ...]) -> str:
    """`text`, a block mapping, with each layer merged into it."""
    import yaml

    for layer in layers:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        lines = text.split("\n")
        edits: list[Replacement] = []
        _merge(root, layer, lines, edits)
        for start, end, new in sorted(edits, key=lambda edit: edit[:2], reverse=True):
            lines[start:end] = new
        text = "\n".join(lines)
    return text


def _merge(node: Any, layer: Mapping[str, Any], lines: list[str], edits: list[Replacement]) -> None:
    column = node.start_mark.column
    present = {key.value: (key, value) for key, value in node.value}
    for name, given in layer.items():
        if name not in present:
            if given is not None:
                after = _end(node, lines)
                edits.append((after, after, _lines({name: given}, column)))
            continue
        key, value = present[name]
        if given is None:
            edits.append((_start(key, lines), _end(value, lines), []))
        elif isinstance(given, Mapping) and _is_block(value, "mapping"):
            _merge(value, given, lines, edits)
        elif _is_named(given) and _is_block(value, "sequence") and all(map(_name, value.value)):
            _merge_entries(value, given, lines, edits)
        else:
            first = key.start_mark.line
            new = _lines({name: given}, column)
            new[0] = lines[first][:column] + new[0][column:]
            edits.append((first, _end(value, lines), new))


def _merge_entries(
    node: Any, given: list[dict[str, Any]], lines: list[str], edits: list[Replacement]
) -> None:
    present = {_name(entry): entry for entry in node.value}
    for entry in given:
        if entry["name"] in present:
            rest = {key: value for key, value in entry.items() if key != "name"}
            _merge(present[entry["name"]], rest, lines, edits)
        else:
            after = _end(node, lines)
            column = node.start_mark.column
            edits.append(
                (after, after, [" " * column + line if line else "" for line in sequence_lines([entry])])
            )


def _is_block(node: Any, kind: str) -> bool:
    return bool(node.id == kind and not node.flow_style)


def _is_named(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(entry, Mapping) and "name" in entry for entry in given)


def _name(node: Any) -> str:
    if node.id == "mapping":
        for key, value in node.value:
            if key.value == "name":
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
    return [" " * column + line if line else "" for line in mapping_lines(value)]
