"""The runtime image as a container engine makes it from Containerfile.

Its base is Debian with Debian's Python, made here: images of registries are not to be had everywhere.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from cluster.interpreter import cached
from cluster.runtime_image import REPOSITORY
from support.gobuild import cache_folder
from support.need import unavailable

BUILT = "localhost/wqc-runtime:built"
BASE = "localhost/python:debian"
PROGRAMS = ("buildah", "debootstrap")
SUITE = "bookworm"
PACKAGES = "python3,python3-venv,python-is-python3,ca-certificates"
MOST = 100
"""Images, of steps too, that are kept: some 5 GB."""
OF_MACHINE = ("/etc/ssl/certs", "/etc/pip.conf")
"""How this machine reaches the registries, where it isn't as usual."""


def build_runtime_image() -> None:
    """Steps whose files haven't changed are kept for the next time."""
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        unavailable(f"a container engine: {', '.join(missing)} (Debian: see .ci/run)")
    if len(_buildah("images", "--all", "--quiet").split()) > MOST:
        _buildah("rmi", "--all", "--force")
    base = cached("debian", [SUITE, PACKAGES], _fill).name
    if BASE not in _buildah("images", "--format", "{{.Name}}:{{.Tag}}").split():
        container = _buildah("from", "scratch").strip()
        _buildah("add", container, str(cache_folder() / base), "/")
        _buildah("commit", container, BASE)
        _buildah("rm", container)
    volumes = [f"--volume={path}:{path}:ro" for path in OF_MACHINE if Path(path).exists()]
    _buildah(
        "bud",
        "--layers",
        "--network=host",
        *volumes,
        f"--build-arg=PYTHON={BASE}",
        f"--tag={BUILT}",
        f"--file={REPOSITORY / 'Containerfile'}",
        str(REPOSITORY),
    )


def run_in_image(*command: str) -> str:
    """As its user. What it prints."""
    container = _buildah("from", BUILT).strip()
    try:
        return _buildah("run", container, "--", *command)
    finally:
        _buildah("rm", container)


def described() -> dict[str, Any]:
    """What its configuration says, as the OCI's image specification has it."""
    found: dict[str, Any] = json.loads(_buildah("inspect", "--type=image", BUILT))
    return dict(found["OCIv1"]["config"])


def added() -> float:
    """Megabytes, uncompressed, that the image has more than its base."""
    return _megabytes(BUILT) - _megabytes(BASE)


def _megabytes(image: str) -> float:
    number, unit = _buildah("images", "--format", "{{.Size}}", image).split()
    return float(number) * {"MB": 1, "GB": 1000}[unit]


def _fill(root: Path) -> None:
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        unavailable(f"Debian can't be installed: {done.stdout.strip().splitlines()[-1:]}")


def _buildah(*arguments: str) -> str:
    """What it prints."""
    kept = cache_folder() / "buildah"
    command = ["buildah", "--root", str(kept / "images"), "--runroot", str(kept / "run")]
    environment = {"BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "overlay"}
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, env={**os.environ, **environment}
    )
    if done.returncode:
        raise RuntimeError(f"buildah {arguments[0]}: {done.stderr[-2000:]}")
    return done.stdout
