"""The graph in Graphviz' language (https://graphviz.org/doc/info/lang.html)."""

from wqc.diagnostics.finding import Level
from wqc.emit.drawing.drawing import Box, Drawing, rate_words

_COLOURS = {Level.ERROR: "red", Level.WARNING: "orange", Level.NOTE: "deepskyblue", None: "black"}


def render(drawing: Drawing) -> str:
    """From left to right; what has findings is coloured and lists their codes."""
    out = [f'digraph "{drawing.workflow}" {{', "  rankdir=LR", "  node [shape=box]"]
    out += [f'  "{box.name}" [label="{_label(box)}", color={_COLOURS[box.worst]}]' for box in drawing.boxes]
    for arrow in drawing.arrows:
        label = f"{arrow.output} {rate_words(arrow.rate)}".strip()
        out.append(f'  "{arrow.start}" -> "{arrow.end}" [label="{label}"]')
    return "\n".join([*out, "}"]) + "\n"


def _label(box: Box) -> str:
    return r"\n".join([box.name, box.detail, *box.codes])
