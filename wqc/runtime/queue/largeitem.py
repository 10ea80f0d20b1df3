"""An item whose data is too large for its Job: a ConfigMap of the Job's own name has its files (promise 10).

The Job is made first, then the ConfigMap, which belongs to it; until that is there, the kubelet waits with
the pod. The Job says in an annotation which files there have to be.
"""

from collections.abc import Iterable, Mapping
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
        twice = ", as JSON and as the worker reads it" if len(texts) > 1 else " of JSON"
        raise ItemTooLarge(f"its data is {size} bytes{twice}; {LARGE_ITEM_BYTES} fit")
    return texts


def large_keys(paths: Iterable[str], data: str) -> dict[str, str]:
    """By path, the key that has the file; one has both, where a worker reads just what the JSON is."""
    is_json = stdin_text(data) == data
    return {path: ITEM_FILE if path == STDIN_FILE and is_json else path for path in paths}


def files_volume(name: str, job: str, keys: Mapping[str, str]) -> dict[str, Any]:
    """The volume of that name, with the files of the Job's ConfigMap; `keys` by path."""
    items = [{"key": key, "path": path} for path, key in keys.items()]
    return {"name": name, "configMap": {"name": job, "items": items}}


def file_names(annotation: str) -> tuple[str, ...]:
    """What the Job's annotation says."""
    return tuple(annotation.split(","))
