"""What wqc says of a pod's profile is what Pod Security admission says of it."""

from typing import Any

import pytest
import yaml

from checks.test_pod_security import ALL, RESTRICTED, TEXT
from cluster.client import Client
from wqc.diagnostics.source import Source
from wqc.pipeline import Options, build

PROFILES = ("restricted", "baseline", "privileged")


@pytest.fixture(scope="module")
def server(api_server: Client) -> Client:
    """With a namespace for each profile."""
    for profile in PROFILES:
        labels = {"pod-security.kubernetes.io/enforce": profile}
        metadata = {"name": f"pods-{profile}", "labels": labels}
        answer = api_server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        assert answer.status in (201, 409), answer
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "w-worker"}}
        assert api_server.create(account, f"pods-{profile}").status in (201, 409)
    return api_server


# Refused before Pod Security is asked: Windows' fields on Linux, and what --allow-privileged is for.
ELSEWHERE = ("windowsOptions", "privileged = true")


def pod_of(fields: str) -> dict[str, Any]:
    """The pod of an attempt, with these raw fields; what they break is silenced."""
    return pod_with(f"pod = {{ {fields} }} # wqc: allow WQ703: the API server shall judge" if fields else "")


def pod_with(attributes: str) -> dict[str, Any]:
    """The pod of an attempt by such a worker."""
    built = build(Source("w.wq", TEXT.format(attributes)), Options())
    settings = yaml.safe_load(built.files["queue-q.yaml"])
    template = yaml.safe_load(settings["data"]["job.yaml"])["spec"]["template"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": template["spec"]}


def strictest(server: Client, pod: dict[str, Any]) -> str:
    """The strictest profile whose namespace takes the pod; `""` if none does, the pod being invalid."""
    for profile in PROFILES:
        answer = server.create(pod, f"pods-{profile}", dryRun="All")
        if answer.status == 201:
            return profile
        if answer.status == 403:
            assert "violates PodSecurity" in answer.body["message"], answer.body["message"]
    return ""


@pytest.mark.parametrize("fields", RESTRICTED)
def test_restricted(server: Client, fields: str) -> None:
    assert strictest(server, pod_of(fields)) == "restricted"


@pytest.mark.parametrize(
    ("fields", "what", "profile"),
    [each for each in ALL if not any(part in each[0] for part in ELSEWHERE)],
    ids=lambda value: str(value)[:40],
)
def test_less(server: Client, fields: str, what: str, profile: str) -> None:
    assert strictest(server, pod_of(fields)) == profile


def test_root(server: Client) -> None:
    assert strictest(server, pod_with("user = 0, profile = baseline")) == "baseline"
