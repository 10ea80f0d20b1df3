"""Servers on this machine, for the pods of a namespace under names of their own."""

from cluster.network import CABLE
from cluster.system import System

HERE = str(next(CABLE.hosts()))
"""Where pods reach this machine."""


def name_server(system: System, name: str, port: int, here: int, *more: tuple[int, int]) -> None:
    """`name`:`port` in the system's namespace leads to the port `here` of this machine; so do `more`."""
    ports = {f"port-{there}": (there, target) for there, target in ((port, here), *more)}
    system.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {
                "ports": [
                    {"name": each, "port": there, "targetPort": target}
                    for each, (there, target) in ports.items()
                ]
            },
        }
    )
    system.create(
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": f"{name}-here", "labels": {"kubernetes.io/service-name": name}},
            "addressType": "IPv4",
            "ports": [{"name": each, "port": target} for each, (_, target) in ports.items()],
            "endpoints": [{"addresses": [HERE], "conditions": {"ready": True}}],
        }
    )
