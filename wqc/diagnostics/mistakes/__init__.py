"""Every mistake, one file per family. Importing this package fills `MISTAKES`."""

from wqc.diagnostics.mistakes import (
    batches,
    characters,
    conditions,
    graph,
    kubernetes,
    names,
    params,
    pods,
    rates,
    security,
    silencers,
    syntax,
    values,
    volumes,
)

__all__ = [
    "batches",
    "characters",
    "conditions",
    "graph",
    "kubernetes",
    "names",
    "params",
    "pods",
    "rates",
    "security",
    "silencers",
    "syntax",
    "values",
    "volumes",
]
