"""containerd for one node, with everything of its own in one folder."""

import os
import shutil
import subprocess
from pathlib import Path

from cluster.image import Image, write_image
from cluster.processes import Processes
from support.gobuild import PAUSE, built

PAUSE_IMAGE = "test.local/pause:1"
CONFIG = """\
version = 2
root = "{folder}/root"
state = "{folder}/state"
[grpc]
  address = "{folder}/containerd.sock"
[ttrpc]
  address = "{folder}/containerd.sock.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  # without CAP_SYS_RESOURCE runc can't lower the score, and the container does not start
  restrict_oom_score_adj = true
  sandbox_image = "{pause}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{folder}/cni"
"""
NETWORK = """\
{{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {{"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
    "ipam": {{"type": "host-local", "dataDir": "{folder}/addresses",
             "ranges": [[{{"subnet": "{pods}", "rangeStart": "{first}"}}]],
             "routes": [{{"dst": "0.0.0.0/0"}}]}}}},
  {{"type": "portmap", "capabilities": {{"portMappings": true}}}}]}}
"""


class ContainerRuntime:
    """`folder` must not be a temporary file system: layers are mounted over each other there."""

    def __init__(self, folder: Path, processes: Processes) -> None:
        self.folder = folder
        self.processes = processes
        self.socket = folder / "containerd.sock"
        self._foreign_networks = _container_networks()

    def start(self, pods: str, first: str) -> None:
        """`pods` is the network of pods' addresses, `first` the first that a pod may have."""
        (self.folder / "cni").mkdir(parents=True, exist_ok=True)
        (self.folder / "config.toml").write_text(CONFIG.format(folder=self.folder, pause=PAUSE_IMAGE))
        (self.folder / "cni" / "pods.conflist").write_text(
            NETWORK.format(folder=self.folder, pods=pods, first=first)
        )
        self.processes.start("containerd", "containerd", "-c", self.folder / "config.toml")
        self.processes.wait_until("containerd", lambda: self._ctr("version").returncode == 0)
        root = self.folder / "pause"
        root.mkdir(exist_ok=True)
        shutil.copy(built(PAUSE), root / "pause")
        self.load_image(Image([PAUSE_IMAGE], [root], ["/pause"]))

    def load_image(self, image: Image) -> None:
        """Pods can use it by its names from then on."""
        archive = self.folder / "image.tar"
        write_image(archive, image, os.uname().machine)
        done = self._ctr("images", "import", str(archive))
        archive.unlink()
        if done.returncode:
            raise RuntimeError(f"image {image.names[0]}: {done.stderr}")

    def stop(self) -> None:
        """Ends every container, containerd, and the networks of the pods."""
        for task in self._listed("tasks"):
            self._ctr("tasks", "kill", "--signal", "KILL", task)
        for container in self._listed("containers"):
            self._ctr("tasks", "delete", "--force", container)
            self._ctr("containers", "delete", container)
        if "containerd" in self.processes.running:
            self.processes.kill("containerd")
        for network in _container_networks() - self._foreign_networks:
            subprocess.run(["ip", "netns", "delete", network], capture_output=True)

    def _listed(self, what: str) -> list[str]:
        return self._ctr(what, "list", "--quiet").stdout.split()

    def _ctr(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["ctr", "--address", str(self.socket), "--namespace", "k8s.io", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)


def _container_networks() -> set[str]:
    """The network namespaces that containerd made for pods, by anyone on this machine."""
    said = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    return {line.split()[0] for line in said.splitlines() if line.startswith("cni-")}
