"""An item whose data is too large for its Job: a ConfigMap of the Job's own name has its files (promise 10).

The Job is made first, then the ConfigMap, which belongs to it; until that is there, the kubelet waits with
the pod. The Job says in an annotation which files there have to be.
"""

from collections.abc import Iterable
from typing import Any

from wqc.contract.limits import LARGE_ITEM_BYTES
from wqc.runtime.stdin import stdin_text

ITEM_FILE, STDIN_FILE = "item.json", "stdin"


class ItemTooLarge(ValueError):
    """The item's data doesn't fit into Kubernetes' objects."""


def large_files(names: Iterable[str], data: str) -> dict[str, str]:
    """The files' texts by name. Raises ItemTooLarge."""
    texts = {name: stdin_text(data) if name == STDIN_FILE else data for name in names}
    size = sum(len(text.encode()) for text in texts.values())
    if size > LARGE_ITEM_BYTES:
        twice = ", as JSON and as the worker reads it," if len(texts) > 1 else " of JSON"
        raise ItemTooLarge(f"its data is {size} bytes{twice}; {LARGE_ITEM_BYTES} fit")
    return texts


def files_volume(name: str, job: str, files: Iterable[str]) -> dict[str, Any]:
    """The volume of that name, with the files of the Job's ConfigMap."""
    items = [{"key": file, "path": file} for file in files]
    return {"name": name, "configMap": {"name": job, "items": items}}


def file_names(annotation: str) -> tuple[str, ...]:
    """What the Job's annotation says."""
    return tuple(annotation.split(","))
