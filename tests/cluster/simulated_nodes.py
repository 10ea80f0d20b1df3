"""Nodes that only say that they run pods (kwok): for scale, and for how the controllers behave."""

import time
from collections.abc import Mapping
from pathlib import Path

from cluster.client import Client
from cluster.control_plane import ControlPlane
from support.gobuild import KWOK, built

STAGES = Path(__file__).parent / "stages.yaml"
SIMULATED = "kwok.x-k8s.io/node"


def start_simulated_nodes(control_plane: ControlPlane, count: int = 1) -> None:
    """Nodes `simulated-0`, … that are ready on return; what happens to their pods is in stages.yaml."""
    control_plane.processes.start(
        "kwok",
        built(KWOK),
        f"--kubeconfig={control_plane.kubeconfig}",
        f"--config={STAGES}",
        "--manage-all-nodes=false",
        f"--manage-nodes-with-annotation-selector={SIMULATED}=fake",
        "--cidr=10.200.0.0/16",
        "--node-ip=10.0.0.1",
        "--node-lease-duration-seconds=40",
    )
    client = Client(control_plane.kubeconfig)
    for number in range(count):
        create_simulated_node(client, f"simulated-{number}", {})


def create_simulated_node(client: Client, name: str, labels: Mapping[str, str]) -> None:
    """It is ready on return."""
    metadata = {
        "name": name,
        "annotations": {SIMULATED: "fake"},
        "labels": {"kubernetes.io/hostname": name, **labels},
    }
    created = client.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
    assert created.status == 201, created
    until = time.monotonic() + 60
    while not client.node_is_ready(name):
        assert time.monotonic() < until, f"the simulated node {name} isn't ready"
        time.sleep(0.05)
