"""Images of workers: stand-ins that are called as those of the workflow."""

import shutil
from pathlib import Path

from cluster.image import Image
from cluster.interpreter import program
from cluster.real_node import RealNode

COMMANDS = ("sh", "cat", "sleep")


def shell_layer(root: Path) -> Path:
    """/bin/sh and the commands that scripts use."""
    busybox = program("busybox", "busybox, statically linked (Debian: busybox-static)")
    (root / "bin").mkdir(parents=True)
    shutil.copy(busybox, root / "bin" / "busybox")
    for name in COMMANDS:
        (root / "bin" / name).symlink_to("busybox")
    return root


def shell_image(node: RealNode, name: str, root: Path) -> None:
    node.load_image(Image([name], [shell_layer(root)], ["sh"]))
