"""A real Kubernetes for the session, in tiers that build on each other; this far: the API server."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.client import Client
from cluster.control_plane import ControlPlane


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An API server with nothing in it, or the cluster of $WQC_TEST_KUBECONFIG."""
    if own := os.environ.get("WQC_TEST_KUBECONFIG"):
        yield Client(Path(own))
        return
    control_plane = ControlPlane(tmp_path_factory.mktemp("cluster"))
    try:
        control_plane.start()
        yield Client(control_plane.kubeconfig)
    finally:
        control_plane.stop()
