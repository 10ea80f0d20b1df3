"""The graph as a tree for a terminal: sources at the left, readers below what they read."""

from collections import defaultdict

from wqc.diagnostics.finding import Level
from wqc.emit.drawing.drawing import Arrow, Box, Drawing, rate_words

_COLOURS = {Level.ERROR: "1;31", Level.WARNING: "1;33", Level.NOTE: "1;36"}


def render(drawing: Drawing, *, colour: bool = False) -> str:
    """A node that several others lead to is drawn out where it is reached first, and only named later."""
    boxes = {box.name: box for box in drawing.boxes}
    leaving: dict[str, list[Arrow]] = defaultdict(list)
    for arrow in drawing.arrows:
        leaving[arrow.start].append(arrow)
    reached = {arrow.end for arrow in drawing.arrows}
    drawn: set[str] = set()
    out = [drawing.workflow]
    # those that nothing leads to; then, where everything does, whatever cycles are left
    for name in sorted(boxes, key=lambda name: name in reached):
        if name not in drawn:
            out += _tree(name, boxes, leaving, drawn, colour)
    return "\n".join(out) + "\n"


def _tree(
    root: str, boxes: dict[str, Box], leaving: dict[str, list[Arrow]], drawn: set[str], colour: bool
) -> list[str]:
    drawn.add(root)
    out = ["", _box(boxes[root], colour)]
    waiting = [(arrow, "", last) for arrow, last in _last_first(leaving[root])]
    while waiting:
        arrow, indent, last = waiting.pop()
        label = f"{arrow.output} " if arrow.output else ""
        lead = f"{indent}{'└' if last else '├'}─ {label}{rate_words(arrow.rate)} → "
        if arrow.end in drawn:
            out.append(f"{lead}{arrow.end}, see above")
            continue
        drawn.add(arrow.end)
        out.append(lead + _box(boxes[arrow.end], colour))
        deeper = indent + ("   " if last else "│  ")
        waiting += [(further, deeper, end) for further, end in _last_first(leaving[arrow.end])]
    return out


def _last_first(arrows: list[Arrow]) -> list[tuple[Arrow, bool]]:
    return [(arrow, arrow is arrows[-1]) for arrow in reversed(arrows)]


def _box(box: Box, colour: bool) -> str:
    marks = " ".join(box.codes)
    if colour and box.worst:
        marks = f"\x1b[{_COLOURS[box.worst]}m{marks}\x1b[0m"
    return f"{box.name} ({box.detail}) {marks}".rstrip()
