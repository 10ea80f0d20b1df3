"""A network namespace for a server, and the cable to it, which a test can pull."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_network

from support.need import unavailable

_NETWORKS = list(ip_network("10.244.254.0/24").subnets(new_prefix=30))


@dataclass(frozen=True)
class Cable:
    name: str
    address: str
    """Where a server listens that is started with `prefix`."""

    @property
    def prefix(self) -> tuple[str, ...]:
        """What a command begins with that runs at the other end."""
        return ("nsenter", f"--net=/run/netns/{self.name}")

    def pull(self) -> None:
        """Nothing gets through, and nobody is told."""
        _run(*self.prefix, "ip", "link", "set", "end", "down")

    def plug(self) -> None:
        _run(*self.prefix, "ip", "link", "set", "end", "up")


@contextmanager
def cable(name: str) -> Iterator[Cable]:
    """`name`: what the namespace's and the interface's begin with, at most 12 characters."""
    if os.geteuid():
        unavailable("a network that can be cut takes root")
    # tests that run at the same time have networks of their own
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    network = _NETWORKS[worker % len(_NETWORKS)]
    outside, inside = map(str, network.hosts())
    name = f"{name}-{worker}"
    laid = Cable(name, inside)
    _remove(name)
    try:
        _run("ip", "netns", "add", name)
        _run("ip", "link", "add", name, "type", "veth", "peer", "name", "end", "netns", name)
        _run("ip", "address", "add", f"{outside}/{network.prefixlen}", "dev", name)
        _run("ip", "link", "set", name, "up")
        _run(*laid.prefix, "ip", "link", "set", "lo", "up")
        _run(*laid.prefix, "ip", "address", "add", f"{inside}/{network.prefixlen}", "dev", "end")
        _run(*laid.prefix, "ip", "link", "set", "end", "up")
        yield laid
    finally:
        _remove(name)


def _remove(name: str) -> None:
    subprocess.run(["ip", "netns", "delete", name], capture_output=True)
    subprocess.run(["ip", "link", "delete", name], capture_output=True)


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        unavailable(f"a network that can be cut takes {command[0]}: apt-get install iproute2 util-linux")
    if done.returncode:
        unavailable(f"a network that can be cut can't be made: {' '.join(command)}: {done.stderr.strip()}")
