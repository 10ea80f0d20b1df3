"""A queue's state as an Event, which `kubectl get events` and dashboards show."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from wqc.runtime.stores.store import Announcement

COMPONENT = "wqc-manager"
LONGEST_MESSAGE = 1024
"""Characters; the API server takes no more."""


def event(namespace: str, owner: dict[str, Any], said: Announcement) -> dict[str, Any]:
    """Of the queue's ConfigMap, `owner`."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {key: owner[key] for key in ("apiVersion", "kind", "name", "uid")} | {"namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{owner['name']}.{uuid4().hex[:16]}", "namespace": namespace},
        "involvedObject": about,
        "type": "Warning" if said.is_warning else "Normal",
        "reason": said.reason,
        "message": said.message[:LONGEST_MESSAGE],
        "source": {"component": COMPONENT},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
