"""Every mistake, one file per family. Importing this package fills `MISTAKES`."""

from wqc.diagnostics.mistakes import names

__all__ = ["names"]
