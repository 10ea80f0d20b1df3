"""The cluster that the other tests stand on is what it claims to be."""

import os

import pytest

from cluster.client import Client
from support.gobuild import KUBERNETES

brings_own = any(os.environ.get(name) for name in ("WQC_TEST_KUBECONFIG", "KUBEBUILDER_ASSETS"))


@pytest.mark.skipif(brings_own, reason="the cluster is the user's own, of a version of their choice")
def test_version(api_server: Client) -> None:
    version = api_server.request("GET", "/version").body
    assert version["gitVersion"] == KUBERNETES
    assert (version["major"], version["minor"]) == ("1", "37")


def test_strict_dry_run_refuses_an_unknown_field(api_server: Client) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "dada": {}}
    answer = api_server.dry_run(manifest, "default")
    assert answer.status == 400
    assert 'unknown field "dada"' in answer.body["message"]
