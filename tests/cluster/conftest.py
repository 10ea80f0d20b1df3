"""A real Kubernetes for the session, in tiers that build on each other: an API server, simulated nodes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster.client import Client
from cluster.control_plane import ControlPlane
from cluster.controllers import TUNED, start_controllers
from cluster.simulated_nodes import start_simulated_nodes


@contextmanager
def running(folder: Path, simulated: bool = False) -> Iterator[Client]:
    """A cluster that ends with the block, or that of $WQC_TEST_KUBECONFIG, which stays."""
    if own := os.environ.get("WQC_TEST_KUBECONFIG"):
        yield Client(Path(own))
        return
    control_plane = ControlPlane(folder)
    try:
        control_plane.start()
        if simulated:
            start_controllers(control_plane, *TUNED)
            start_simulated_nodes(control_plane)
        yield Client(control_plane.kubeconfig)
    finally:
        control_plane.stop()


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An API server with nothing in it and nothing behind it."""
    with running(tmp_path_factory.mktemp("api-server")) as client:
        yield client


@pytest.fixture(scope="session")
def simulated_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Its controllers too, and a node where pods finish as their annotations say (stages.yaml)."""
    with running(tmp_path_factory.mktemp("simulated"), simulated=True) as client:
        yield client
