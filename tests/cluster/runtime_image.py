"""The runtime image that Containerfile makes, without a container engine: the wheel, the locked packages."""

import shutil
import subprocess
import sys
from pathlib import Path

from cluster.image import Image
from cluster.interpreter import ENVIRONMENT, PACKAGES, cached, digest_of, install, interpreter_layer
from support.gobuild import WRAPPER, built
from support.need import unavailable

REPOSITORY = Path(__file__).resolve().parents[2]
LOCK = REPOSITORY / "requirements" / "runtime.lock"
NAME = "docker.io/library/wqc-runtime:0.1.0"
USER = "10001"
# as pyproject.toml's entry point, for the image's own Python
PROGRAM = """\
#!/usr/local/bin/python
import sys
from wqc.runtime.program import main
sys.exit(main())
"""


def runtime_image(folder: Path) -> Image:
    """The wheel is built and laid out in `folder`; all else is kept for the next time."""
    packages = cached("packages", [sys.version, digest_of(LOCK), digest_of(Path(__file__))], _install_lock)
    own = folder / "wqc"
    install(own, "--no-deps", _wheel(folder / "wheel"))
    program = own / "usr/local/bin/wqc-runtime"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    shutil.copy(built(WRAPPER), program.with_name("wqc-wrapper"))
    return Image([NAME], [interpreter_layer(), packages, own], ["wqc-runtime"], USER, ENVIRONMENT)


def _install_lock(root: Path) -> None:
    install(root, "--require-hashes", "--only-binary", ":all:", "-r", LOCK)
    shutil.rmtree(root / PACKAGES / "kubernetes" / "aio")  # as in Containerfile


def _wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*command, "--wheel-dir", folder, REPOSITORY], capture_output=True, text=True)
    if done.returncode:
        unavailable(f"the wheel can't be built: {done.stderr.strip().splitlines()[-1:]}")
    (wheel,) = folder.glob("wqc-*.whl")
    return wheel
