"""Requests to an API server as the tests need them: any object by its manifest, warnings included."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from kubernetes import config

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """`status` is HTTP's; `warnings` the Warning headers' text; `body` the decoded JSON."""

    status: int
    body: Any
    warnings: str


class Client:
    """`kubeconfig` names the cluster and the user."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self.api = config.new_client_from_config(str(kubeconfig))
        self.resource = cache(self._resource)

    def request(self, method: str, path: str, body: Any = None, **query: str) -> Answer:
        """One request; a refusal is an answer too, not an exception."""
        answer = self._send(method, path, body, query)
        return Answer(answer.status, json.loads(answer.data), answer.headers.get("Warning", ""))

    def text(self, path: str, **query: str) -> str:
        """What is not JSON: a log."""
        answer = self._send("GET", path, None, query)
        assert answer.status == 200, answer.data
        return str(answer.data, "utf-8")

    def _send(self, method: str, path: str, body: Any, query: dict[str, str]) -> Any:
        content = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Content-Type": content, "Accept": "application/json"}
        self.api.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
        return self.api.rest_client.pool_manager.request(
            method,
            f"{self.api.configuration.host}{path}?{urlencode(query)}",
            headers=headers,
            body=None if body is None else json.dumps(body),
        )

    def create(self, manifest: Manifest, namespace: str = "default", **query: str) -> Answer:
        return self.request("POST", self.collection(manifest, namespace), manifest, **query)

    def dry_run(self, manifest: Manifest, namespace: str) -> Answer:
        """Everything that creating it would check, nothing kept; unknown and doubled fields are refused."""
        return self.create(manifest, namespace, dryRun="All", fieldValidation="Strict")

    def node_is_ready(self, name: str) -> bool:
        node = self.request("GET", f"/api/v1/nodes/{name}")
        conditions = node.body["status"].get("conditions", []) if node.status == 200 else []
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    def collection(self, manifest: Manifest, namespace: str) -> str:
        """The path that objects of the manifest's kind are created under."""
        version = manifest["apiVersion"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resource = self.resource(root, manifest["kind"])
        inside = manifest["metadata"].get("namespace", namespace)
        return (
            f"{root}/namespaces/{inside}/{resource['name']}"
            if resource["namespaced"]
            else f"{root}/{resource['name']}"
        )

    def _resource(self, root: str, kind: str) -> dict[str, Any]:
        listing = self.request("GET", root).body["resources"]
        return next(each for each in listing if each["kind"] == kind and "/" not in each["name"])
