"""The graph as a Mermaid flowchart (https://mermaid.js.org), which GitHub and GitLab draw in Markdown."""

from wqc.diagnostics.finding import Level
from wqc.emit.drawing.drawing import Box, Drawing, rate_words

_STYLES = {
    Level.ERROR: "fill:#fdd,stroke:#c00,color:#000",
    Level.WARNING: "fill:#ffd,stroke:#a80,color:#000",
    Level.NOTE: "fill:#def,stroke:#08a,color:#000",
}


def render(drawing: Drawing) -> str:
    """From left to right; what has findings is coloured and lists their codes."""
    out = ["flowchart LR"]
    out += [f'    {_id(box.name)}["{_label(box)}"]' for box in drawing.boxes]
    for arrow in drawing.arrows:
        label = f"{arrow.output} {rate_words(arrow.rate)}".strip()
        out.append(f'    {_id(arrow.start)} -->|"{label}"| {_id(arrow.end)}')
    for level, style in _STYLES.items():
        marked = [_id(box.name) for box in drawing.boxes if box.worst is level]
        if marked:
            out += [f"    classDef {level.value} {style}", f"    class {','.join(marked)} {level.value}"]
    return "\n".join(out) + "\n"


def _id(name: str) -> str:
    """Some names, such as `end`, are words of Mermaid's."""
    return f"n_{name}"


def _label(box: Box) -> str:
    return "<br>".join([f"<b>{box.name}</b>", box.detail, *box.codes])
