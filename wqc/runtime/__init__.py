"""The run time: what a generated manager needs."""

from wqc.runtime.graph.workflow import Workflow

__all__ = ["Workflow"]
