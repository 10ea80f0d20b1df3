"""A network namespace for one node: a bridge for its pods, and a cable by which the tests reach them."""

import ipaddress
import subprocess

NODE = "10.244.0.1"
PODS = "10.244.0.0/24"
CABLE = ipaddress.ip_network("10.244.255.0/30")
ROUTED = (PODS, "10.96.0.0/16")  # pods and Services are reached through the namespace


class NodeNetwork:
    """The namespace `name`; commands run in it with `prefix`."""

    def __init__(self, name: str) -> None:
        self.name = name
        # not `ip netns exec`: that mounts a fresh /sys without cgroups, and the kubelet ends
        self.prefix = ("nsenter", f"--net=/run/netns/{name}")

    def create(self) -> None:
        outside, inside = (str(address) for address in CABLE.hosts())
        self.remove()
        _run("ip", "netns", "add", self.name)
        _run("ip", "link", "add", self.name, "type", "veth", "peer", "name", "host", "netns", self.name)
        _run("ip", "address", "add", f"{outside}/{CABLE.prefixlen}", "dev", self.name)
        _run("ip", "link", "set", self.name, "up")
        self._inside("ip", "link", "set", "lo", "up")
        self._inside("ip", "address", "add", f"{inside}/{CABLE.prefixlen}", "dev", "host")
        self._inside("ip", "link", "set", "host", "up")
        self._inside("ip", "link", "add", "cni0", "type", "bridge")
        self._inside("ip", "address", "add", f"{NODE}/24", "dev", "cni0")
        self._inside("ip", "link", "set", "cni0", "up")
        self._inside("sysctl", "-qw", "net.ipv4.ip_forward=1")
        for destination in ROUTED:
            _run("ip", "route", "add", destination, "via", inside)

    def remove(self) -> None:
        """Ends the namespace if there is one; the cable and its routes go with it."""
        subprocess.run(["ip", "netns", "delete", self.name], capture_output=True)
        subprocess.run(["ip", "link", "delete", self.name], capture_output=True)

    def _inside(self, *command: str) -> None:
        _run(*self.prefix, *command)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
