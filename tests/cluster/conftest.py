"""A real Kubernetes for the session, in tiers that build on each other: an API server, simulated
nodes, a real node."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cluster.client import Client
from cluster.control_plane import ControlPlane
from cluster.controllers import TUNED, start_controllers
from cluster.given_cluster import GivenCluster, given_kubeconfig
from cluster.real_node import RealNode
from cluster.runtime_image import runtime_image
from cluster.schedule import Schedule
from cluster.simulated_nodes import start_simulated_nodes
from support.need import unavailable


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Schedule:
    return Schedule(config, log)


@contextmanager
def running(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    try:
        control_plane.start()
        yield control_plane
    finally:
        control_plane.stop()


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An API server with nothing in it and nothing behind it, or that of the cluster that is given."""
    if given := given_kubeconfig():
        yield Client(given)
        return
    with running(ControlPlane(tmp_path_factory.mktemp("api-server"))) as control_plane:
        yield Client(control_plane.kubeconfig)


@pytest.fixture(scope="session")
def simulated_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Its controllers too, and a node where pods finish as their annotations say (stages.yaml)."""
    with running(ControlPlane(tmp_path_factory.mktemp("simulated"))) as control_plane:
        start_controllers(control_plane, *TUNED)
        start_simulated_nodes(control_plane)
        yield control_plane


@pytest.fixture(scope="session")
def simulated_cluster(simulated_plane: ControlPlane) -> Client:
    return Client(simulated_plane.kubeconfig)


@pytest.fixture(scope="session")
def real_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealNode | GivenCluster]:
    """A cluster that runs containers: a node on this machine, which needs root, or the one that is given."""
    if given := given_kubeconfig():
        yield GivenCluster(given)
        return
    node = RealNode(tmp_path_factory.mktemp("real-node"))
    try:
        node.start()
        yield node
    finally:
        node.stop()


@pytest.fixture(scope="session")
def runtime_node(real_node: RealNode | GivenCluster, tmp_path_factory: pytest.TempPathFactory) -> RealNode:
    """The node on this machine, with the runtime image under the name that the compiler writes."""
    if not isinstance(real_node, RealNode):
        unavailable("volumes are folders of this machine here: unset WQC_TEST_KUBECONFIG")
    real_node.load_image(runtime_image(tmp_path_factory.mktemp("runtime-image")))
    return real_node
