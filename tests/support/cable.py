"""A network namespace for a server, and the cable to it, which a test can pull."""

import fcntl
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_network

from support.gobuild import cache_folder
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
def cable() -> Iterator[Cable]:
    if os.geteuid():
        unavailable("a network that can be cut takes root")
    with _number() as number:
        network = _NETWORKS[number]
        outside, inside = map(str, network.hosts())
        name = f"wqc-cable-{number}"
        laid = Cable(name, inside)
        _remove(name)  # a run that was killed leaves its own, and its route
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


@contextmanager
def _number() -> Iterator[int]:
    """Of a network that no other test has, of this run or another on this machine."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    for number in range(len(_NETWORKS)):
        with (cache_folder() / f"cable-{number}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
    raise AssertionError(f"all {len(_NETWORKS)} networks that can be cut are taken")


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
