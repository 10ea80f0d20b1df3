"""Images of workers: stand-ins that are called as those of the workflow."""

import shutil
import subprocess
from pathlib import Path

from cluster.image import Image
from cluster.interpreter import copy_libraries, program
from cluster.real_node import RealNode


def shell_layer(root: Path, *programs: str) -> Path:
    """/bin/sh, the commands that scripts use, and `programs` of this machine with their libraries."""
    busybox = program("busybox", "busybox, statically linked (Debian: busybox-static)")
    (root / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(busybox, root / "bin" / "busybox")
    for name in subprocess.run(
        [busybox, "--list"], capture_output=True, text=True, check=True
    ).stdout.split():
        if name not in programs and name != "busybox":
            (root / "bin" / name).symlink_to("busybox")
    for name in programs:
        shutil.copy(program(name), root / "bin" / name)
    copy_libraries(root)
    return root


def shell_image(node: RealNode, name: str, root: Path, *programs: str) -> None:
    node.load_image(Image([name], [shell_layer(root, *programs)], ["sh"]))
