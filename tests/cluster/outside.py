"""Servers on this machine, for the pods of a namespace under names of their own."""

from cluster.network import CABLE
from cluster.system import System

HERE = str(next(CABLE.hosts()))
"""Where pods reach this machine."""


def name_server(system: System, name: str, port: int, here: int) -> None:
    """`name`:`port` in the system's namespace leads to the port `here` of this machine."""
    system.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {"ports": [{"port": port, "targetPort": here}]},
        }
    )
    system.create(
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": f"{name}-here", "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4",
            "ports": [{"port": here}],
            "endpoints": [{"addresses": [HERE], "conditions": {"ready": True}}],
        }
    )
