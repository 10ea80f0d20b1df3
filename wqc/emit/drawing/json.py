"""The graph for programs, as one JSON object."""

import json

from wqc.emit.drawing.drawing import Drawing

FORMAT_VERSION = 1
"""Raised when a field goes or changes its meaning; new fields may come without."""


def render(drawing: Drawing) -> str:
    """Nodes in the order declared, edges in that of their readers; an unknown rate is null."""
    data = {
        "format_version": FORMAT_VERSION,
        "workflow": drawing.workflow,
        "nodes": [
            {
                "name": box.name,
                "block": box.block,
                "kind": box.kind,
                "findings": [
                    {"code": finding.code, "level": finding.level.value} for finding in box.findings
                ],
            }
            for box in drawing.boxes
        ],
        "edges": [
            {"from": arrow.start, "output": arrow.output, "to": arrow.end, "items_per_second": arrow.rate}
            for arrow in drawing.arrows
        ],
    }
    return json.dumps(data, indent=2) + "\n"
