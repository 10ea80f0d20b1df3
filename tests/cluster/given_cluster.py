"""The cluster of $WQC_TEST_KUBECONFIG (kind, k3d, …) in place of the node that the tests bring up."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from cluster.image import Image, write_image
from support.need import unavailable


def given_kubeconfig() -> Path | None:
    own = os.environ.get("WQC_TEST_KUBECONFIG")
    return Path(own) if own else None


class GivenCluster:
    """Stays as it is; images reach it by $WQC_TEST_LOAD_IMAGE, such as `kind load image-archive`."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig

    def load_image(self, image: Image) -> None:
        """Pods can use it by its names from then on."""
        loader = os.environ.get("WQC_TEST_LOAD_IMAGE")
        if not loader:
            unavailable("set WQC_TEST_LOAD_IMAGE to what loads an image archive, beside WQC_TEST_KUBECONFIG")
        with tempfile.TemporaryDirectory() as scratch:
            archive = Path(scratch, "image.tar")
            write_image(archive, image, os.uname().machine)
            subprocess.run([*shlex.split(loader), str(archive)], check=True)
