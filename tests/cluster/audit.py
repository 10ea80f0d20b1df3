"""What service accounts asked the API server for, from its audit log."""

import json
from dataclasses import dataclass
from pathlib import Path

import yaml

POLICY = yaml.safe_dump(
    {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "rules": [
            # the controllers of the control plane have service accounts too
            {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]},
            {"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
            {"level": "None"},
        ],
    }
)


@dataclass(frozen=True, order=True)
class Asked:
    """One kind of request: a Role's terms, and HTTP's status."""

    verb: str
    group: str
    resource: str
    name: str
    status: int


def asked_by(log: Path, namespace: str) -> dict[str, set[Asked]]:
    """By service account of the namespace. A watch is there once it ended."""
    prefix = f"system:serviceaccount:{namespace}:"
    found: dict[str, set[Asked]] = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        user: str = event["user"]["username"]
        if not user.startswith(prefix):
            continue
        about = event.get("objectRef", {})
        resource = "/".join(filter(None, (about.get("resource", ""), about.get("subresource", ""))))
        asked = Asked(
            event["verb"],
            about.get("apiGroup", ""),
            resource,
            about.get("name", ""),
            event["responseStatus"]["code"],
        )
        found.setdefault(user.removeprefix(prefix), set()).add(asked)
    return found
