"""A real API server takes every object of every golden, under Pod Security's restricted profile, unwarned."""

import hashlib
from pathlib import Path

import pytest

from cluster.client import Client
from support.goldens import FOLDERS, objects

RESTRICTED = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}


def ensure_namespace(client: Client, name: str) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": RESTRICTED}}
    answer = client.create(namespace)
    if answer.status == 409:
        answer = client.request("PATCH", f"/api/v1/namespaces/{name}", {"metadata": {"labels": RESTRICTED}})
    assert answer.status in (200, 201), answer


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_object_is_accepted(api_server: Client, folder: Path) -> None:
    # a namespace for each folder: nothing that another golden needs can hide what this one lacks
    home = f"{folder.name.replace('_', '-')}-{hashlib.sha256(folder.name.encode()).hexdigest()[:6]}"
    refused, tried = [], 0
    for each in objects(folder):
        namespace = each.manifest["metadata"].get("namespace", home)
        ensure_namespace(api_server, namespace)
        answer = api_server.dry_run(each.manifest, namespace)
        tried += 1
        if answer.status != 201:
            refused.append(f"{each.origin} {each.label}: {answer.body['message']}")
        elif answer.warnings:
            refused.append(f"{each.origin} {each.label}: {answer.warnings}")
    assert tried, f"{folder} holds no objects"
    assert not refused, "\n".join(refused)
