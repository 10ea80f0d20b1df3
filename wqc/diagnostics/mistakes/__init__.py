"""Every mistake, one file per family. Importing this package fills `MISTAKES`."""

from wqc.diagnostics.mistakes import characters, conditions, graph, names, rates, syntax

__all__ = ["characters", "conditions", "graph", "names", "rates", "syntax"]
