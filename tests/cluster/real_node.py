"""A real node in a network namespace: containerd, kubelet, kube-proxy and DNS on top of the control plane."""

import fcntl
import os
import re
import shutil
import subprocess
from pathlib import Path

import yaml

from cluster.client import Client
from cluster.container_runtime import ContainerRuntime
from cluster.control_plane import ControlPlane
from cluster.controllers import start_controllers
from cluster.image import Image
from cluster.network import NODE, PODS, NodeNetwork
from support.gobuild import NODE as NODE_PROGRAM
from support.gobuild import built, cache_folder, linked
from support.need import unavailable

PROGRAMS = ("containerd", "ctr", "runc", "ip", "nft", "conntrack", "nsenter", "umount")
DNS = "10.96.0.10"
NAME = "node"
CGROUPS = Path("/sys/fs/cgroup")


def require_machine() -> None:
    """Skip (in CI: fail) with what this machine lacks for a real node."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if not Path("/usr/lib/cni/bridge").exists():
        missing.append("containernetworking-plugins")
    if os.name != "posix" or os.uname().sysname != "Linux" or os.geteuid() != 0:
        unavailable("a real node needs root on Linux")
    if missing:
        unavailable(f"a real node needs {', '.join(missing)} (Debian: see .ci/run)")


class RealNode:
    """A cluster of one node named `node`, its state in `folder`; one at a time on a machine."""

    def __init__(self, folder: Path) -> None:
        require_machine()
        self.folder = folder
        self.network = NodeNetwork("wqc-node")
        self.control_plane = ControlPlane(folder, NODE, self.network.prefix)
        self.processes = self.control_plane.processes
        self.runtime = ContainerRuntime(folder / "containerd", self.processes)
        self.kubeconfig = self.control_plane.kubeconfig
        cache_folder().mkdir(parents=True, exist_ok=True)
        self.lock = (cache_folder() / "real-node.lock").open("w")

    def start(self) -> None:
        built(NODE_PROGRAM)  # it may take minutes, which nothing that is started should wait for
        # two kubelets share the cgroup root, and each kills the other's pods
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.network.create()
        self.control_plane.start()
        start_controllers(self.control_plane)
        self.runtime.start(PODS, first="10.244.0.10")
        self.start_kubelet()
        self._start_proxy()
        self._start_dns()
        client = Client(self.kubeconfig)
        self.processes.wait_until("kubelet", lambda: client.node_is_ready(NAME))

    def stop(self) -> None:
        for name in reversed([each for each in self.processes.running if each != "containerd"]):
            self.processes.kill(name)
        self.runtime.stop()
        self.control_plane.stop()
        self.network.remove()
        _unmount_below(self.folder)
        _remove_cgroups()
        self.lock.close()

    def load_image(self, image: Image) -> None:
        """Pods can use it by its names from then on."""
        self.runtime.load_image(image)

    def _part(self, name: str) -> Path:
        return linked(NODE_PROGRAM, self.folder / "bin", name)

    def kill_kubelet(self) -> None:
        """What runs goes on without it."""
        self.processes.kill("kubelet")

    def start_kubelet(self) -> None:
        config = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "failCgroupV1": False,
            "failSwapOn": False,
            "cgroupDriver": "cgroupfs",
            "containerRuntimeEndpoint": f"unix://{self.runtime.socket}",
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "clusterDNS": [DNS],
            "clusterDomain": "cluster.local",
            "resolvConf": "/dev/null",
            "serializeImagePulls": False,
            # the images are nowhere else, and how full the disk is isn't the node's business
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
            "evictionHard": {
                "memory.available": "100Mi",
                "nodefs.available": "1%",
                "imagefs.available": "1%",
            },
        }
        path = self.folder / "kubelet.yaml"
        path.write_text(yaml.safe_dump(config))
        self.processes.start(
            "kubelet",
            self._part("kubelet"),
            f"--config={path}",
            f"--kubeconfig={self.kubeconfig}",
            f"--root-dir={self.folder / 'kubelet'}",
            f"--cert-dir={self.folder / 'pki'}",
            f"--hostname-override={NAME}",
            f"--node-ip={NODE}",
        )

    def _start_proxy(self) -> None:
        self.processes.start(
            "kube-proxy",
            self._part("kube-proxy"),
            f"--kubeconfig={self.kubeconfig}",
            "--proxy-mode=nftables",
            f"--cluster-cidr={PODS}",
            f"--hostname-override={NAME}",
            # limits of the whole machine's connection table, which is not ours to set
            "--conntrack-max-per-core=0",
            "--conntrack-tcp-timeout-established=0",
            "--conntrack-tcp-timeout-close-wait=0",
        )

    def _start_dns(self) -> None:
        zone = f"kubernetes cluster.local {{\n    kubeconfig {self.kubeconfig}\n  }}"
        (self.folder / "Corefile").write_text(f".:53 {{\n  errors\n  {zone}\n  cache 5\n}}\n")
        self.processes.start("coredns", self._part("coredns"), "-conf", self.folder / "Corefile")
        ports = [
            {"name": "dns", "port": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
        ]
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "kube-dns"},
            "spec": {"clusterIP": DNS, "ports": ports},
        }
        slice_ = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": "kube-dns-1", "labels": {"kubernetes.io/service-name": "kube-dns"}},
            "addressType": "IPv4",
            "ports": ports,
            "endpoints": [{"addresses": [NODE], "conditions": {"ready": True}}],
        }
        client = Client(self.kubeconfig)
        for manifest in (service, slice_):
            answer = client.create(manifest, "kube-system")
            assert answer.status == 201, answer


def _unmount_below(folder: Path) -> None:
    """What kubelet and containerd mounted, deepest first."""
    mounted = re.findall(rf" ({re.escape(str(folder))}/\S+) ", Path("/proc/mounts").read_text())
    for mount in sorted(mounted, reverse=True):
        subprocess.run(["umount", "--lazy", mount], capture_output=True)


def _remove_cgroups() -> None:
    """What the kubelet made for pods, now empty, deepest first."""
    for top in (*CGROUPS.glob("kubepods"), *CGROUPS.glob("*/kubepods")):
        for folder, _, _ in os.walk(top, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                return  # still in use: another's
