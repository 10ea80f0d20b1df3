"""What the manager adds to a queue's job.yaml to make the Job of one attempt at one item.

The template (written by `wqc build`) has everything that is the same for all items. Added here, and only
here: the name; ownerReferences; labels (workflow, queue, lane); the Job's `wqc/item` annotation (who the
item is); the pod's `wqc/item` annotation (its data), its `wqc/stdin` annotation where the template's volume
`item` has that, and `field.wqc/KEY` annotations with their `fields/KEY` entries in volume `item`; the lane's
nodeSelector.
"""

import copy
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wqc.contract.limits import FIELD_NAME, ITEM_FIELDS, SMALL_ITEM_BYTES
from wqc.contract.names import (
    FIELD_ANNOTATION,
    ITEM_ANNOTATION,
    LANE_LABEL,
    LARGE,
    QUEUE_LABEL,
    WORKFLOW_LABEL,
    item_hash,
    job_name,
    object_name,
)
from wqc.contract.pod import STDIN_ANNOTATION
from wqc.contract.settings import Lane
from wqc.runtime.queue.largeitem import STDIN_FILE, files_volume, large_files, large_keys
from wqc.runtime.stdin import stdin_text
from wqc.runtime.text import decode_known, encode, scalar

ITEM_VOLUME = "item"
FIELDS_FOLDER = "fields"
_FIELD = re.compile(FIELD_NAME)


@dataclass(frozen=True, slots=True)
class Identity:
    """Which attempt at which item a Job is: what its `wqc/item` annotation says."""

    name: str
    version: str
    round: int
    attempt: int
    failures: int

    def text(self) -> str:
        return encode(
            {
                "name": self.name,
                "version": self.version,
                "round": self.round,
                "attempt": self.attempt,
                "failures": self.failures,
            }
        )


@lru_cache(maxsize=4096)  # each Job is told of seven times or so
def read_identity(text: str) -> Identity:
    """Raises ValueError for a text that `Identity.text` didn't write."""
    try:
        match decode_known(text):
            case {
                "name": str(name),
                "version": str(version),
                "round": int(round),
                "attempt": int(attempt),
                "failures": int(failures),
            }:
                return Identity(name, version, round, attempt, failures)
    except ValueError:
        pass
    raise ValueError(f"not an item's identity: {text[:200]}")


def attempt_name(workflow: str, queue: str, key_version: str, identity: Identity) -> str:
    """The Job's name. `key_version` is "" where a new version is no new item (`rework = never`)."""
    key = item_hash(identity.name, key_version, identity.round)
    return job_name(object_name(workflow, queue), key, identity.attempt)


def job_manifest(
    template: dict[str, Any],
    owner: dict[str, Any],
    workflow: str,
    queue: str,
    lane: Lane,
    job: str,
    identity: Identity,
    data: str,
) -> dict[str, Any]:
    """The Job to create; `data` is the item's data as JSON.

    What is larger than SMALL_ITEM_BYTES isn't in it, but for the names of its files (largeitem.py).

    Raises ItemTooLarge.
    """
    manifest = copy.deepcopy(template)
    labels = {WORKFLOW_LABEL: workflow, QUEUE_LABEL: queue} | ({LANE_LABEL: lane.name} if lane.name else {})
    metadata = manifest.setdefault("metadata", {})
    metadata["name"] = job
    metadata["ownerReferences"] = [owner]
    _merge(metadata, "labels", labels)
    _merge(metadata, "annotations", {ITEM_ANNOTATION: identity.text()})
    pod = manifest["spec"]["template"]
    _merge(pod.setdefault("metadata", {}), "labels", labels)
    if lane.node_selector:
        _merge(pod["spec"], "nodeSelector", lane.node_selector)
    if len(data.encode()) <= SMALL_ITEM_BYTES:
        _put_in(pod, data)
    else:
        keys = large_keys((file["path"] for file in item_files(pod["spec"])), data)
        names = list(dict.fromkeys(keys.values()))
        large_files(names, data)
        _merge(metadata, "annotations", {LARGE: ",".join(names)})
        volumes = pod["spec"]["volumes"]
        volumes[:] = [
            files_volume(ITEM_VOLUME, job, keys) if each["name"] == ITEM_VOLUME else each for each in volumes
        ]
    return manifest


def _put_in(pod: dict[str, Any], data: str) -> None:
    """A small item is in the pod's annotations, from which its files are made."""
    fields = item_fields(data)
    texts = {ITEM_ANNOTATION: data} | {FIELD_ANNOTATION + key: text for key, text in fields.items()}
    files = item_files(pod["spec"])
    if any(file["path"] == STDIN_FILE for file in files):
        texts[STDIN_ANNOTATION] = stdin_text(data)
    files += [_field_file(key) for key in fields]
    _merge(pod["metadata"], "annotations", texts)


def item_fields(data: str) -> dict[str, str]:
    """The top-level scalars that get a file of their own, and the files' texts (design, section 3)."""
    value = decode_known(data)
    if not isinstance(value, dict):
        return {}
    fields: dict[str, str] = {}
    for key, each in value.items():
        text = scalar(each)
        if text is not None and _FIELD.fullmatch(key) and len(fields) < ITEM_FIELDS:
            fields[key] = text
    return fields


def item_files(pod: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of the volume `item`, to be added to."""
    for volume in pod["volumes"]:
        if volume["name"] == ITEM_VOLUME:
            files: list[dict[str, Any]] = volume["downwardAPI"]["items"]
            return files
    raise ValueError("the Job's template has no volume `item`")


def annotation_of(file: dict[str, Any]) -> str:
    """The annotation that a file of the volume `item` shows."""
    path: str = file["fieldRef"]["fieldPath"]
    return path.removeprefix("metadata.annotations['").removesuffix("']")


def _field_file(key: str) -> dict[str, Any]:
    return {
        "path": f"{FIELDS_FOLDER}/{key}",
        "fieldRef": {"fieldPath": f"metadata.annotations['{FIELD_ANNOTATION}{key}']"},
    }


def _merge(parent: dict[str, Any], key: str, additions: dict[str, str]) -> None:
    parent[key] = (parent.get(key) or {}) | additions
