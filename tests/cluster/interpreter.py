"""A layer with the Python that runs the tests, in place of a distribution's base image."""

import functools
import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from support.gobuild import cache_folder
from support.need import unavailable

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
LIBRARY = f"usr/local/lib/{VERSION}"
PACKAGES = f"{LIBRARY}/site-packages"
NOT_NEEDED = ("__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "config-*")
TEMPLATES = Path("/usr/share/git-core/templates")
ENVIRONMENT = {"LD_LIBRARY_PATH": "/usr/local/lib", "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
"""Where copy_libraries puts those of a Python that isn't the system's."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")


@functools.cache
def interpreter_layer() -> Path:
    """/usr/local/bin/python, /bin/sh, git, and the shared libraries that they need."""
    git, shell = program("git"), program("busybox", "busybox, statically linked (Debian: busybox-static)")
    facts = [sys.version, sys.base_prefix, *map(digest_of, (git, shell, Path(__file__)))]
    return cached("interpreter", facts, lambda root: _fill(root, git, shell))


def cached(name: str, facts: Iterable[str], fill: Callable[[Path], None]) -> Path:
    """A folder outside the repository, filled once for all that decides what is in it."""
    key = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
    target = cache_folder() / f"{name}-{key}"
    if not target.exists():
        cache_folder().mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=cache_folder(), prefix=f"{name}-new-"))
        fresh.chmod(0o755)
        try:
            fill(fresh)
            fresh.rename(target)
        except BaseException:
            shutil.rmtree(fresh)
            raise
    return target


def install(root: Path, *arguments: str | Path) -> None:
    """What `uv pip install ARGUMENTS` installs for this Python, in the layer `root`."""
    target = root / PACKAGES
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable]
    command += ["--link-mode", "copy", "--target", target]
    done = subprocess.run([*map(str, command), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        unavailable(f"packages for an image can't be installed: {done.stderr.strip().splitlines()[-1:]}")
    shutil.rmtree(target / "bin", ignore_errors=True)  # their first line names this machine's Python
    compile_python(target)
    copy_libraries(root)


def compile_python(folder: Path) -> None:
    """An image's root is read-only: what isn't compiled now is compiled at each start."""
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*command, "-s", str(folder), str(folder)], check=True)


def copy_libraries(root: Path) -> None:
    """Beside the programs in `root`, the shared libraries of this machine that they are linked with."""
    for path in [path for path in root.rglob("*") if _is_elf(path)]:
        said = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
        for found in re.findall(r"(?:=> )?(/\S+) \(0x", said):
            if Path(found).is_relative_to(root):
                continue
            at = root / found.lstrip("/")
            if not found.startswith(SYSTEM):
                at = root / "usr/local/lib" / Path(found).name
            if not at.exists():
                at.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(found, at)


def program(name: str, what: str = "") -> Path:
    return Path(shutil.which(name) or unavailable(what or name)).resolve()


def _fill(root: Path, git: Path, shell: Path) -> None:
    for folder in ("usr/local/bin", "usr/local/lib", "bin", "usr/bin", "etc", "tmp"):
        (root / folder).mkdir(parents=True)
    shutil.copy(Path(sys.executable).resolve(), root / f"usr/local/bin/{VERSION}")
    for name in ("python3", "python"):
        (root / "usr/local/bin" / name).symlink_to(VERSION)
    ignored = shutil.ignore_patterns(*NOT_NEEDED, "site-packages", "dist-packages")
    shutil.copytree(sysconfig.get_path("stdlib"), root / LIBRARY, ignore=ignored, symlinks=False)
    compile_python(root / LIBRARY)
    shutil.copy(shell, root / "bin/busybox")
    for name in ("sh", "cat"):
        (root / "bin" / name).symlink_to("busybox")
    _copy_git(root, git)
    if CERTIFICATES.exists():
        (root / CERTIFICATES.parent.relative_to("/")).mkdir(parents=True)
        shutil.copy(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nwqc:x:10001:10001::/tmp:/bin/sh\n")
    copy_libraries(root)


def _copy_git(root: Path, git: Path) -> None:
    """git itself, and what it runs for https: repositories."""
    helpers = Path(
        subprocess.run([git, "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
    )
    shutil.copy(git, root / "usr/bin/git")
    inside = root / helpers.relative_to("/")
    inside.mkdir(parents=True)
    for name in ("git-remote-http", "git-remote-https"):
        shutil.copy(helpers / name, inside / name)
    if TEMPLATES.exists():
        shutil.copytree(TEMPLATES, root / TEMPLATES.relative_to("/"))
    for name in ("git", "git-upload-pack"):
        (inside / name).symlink_to("/usr/bin/git")


def _is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
