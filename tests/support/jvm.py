"""Java programs that the tests need, brought once by Maven and kept outside the repository.

Each is a folder of `tests/jvmtools/`: `pom.xml` says what, `SHA256SUMS` pins every jar.
"""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

from support import gobuild
from support.gobuild import TESTS, cache_folder
from support.need import unavailable

TOOLS = TESTS / "jvmtools"


def java() -> str:
    return _command("java", "default-jre-headless")


def class_path(tool: str) -> str:
    """All jars of the tool; skips (in CI: fails) where they can't be had."""
    return f"{_jars(TOOLS / tool)}/*"


def _jars(tool: Path) -> Path:
    pinned = (tool / "SHA256SUMS").read_text()
    key = hashlib.sha256(pinned.encode()).hexdigest()[:16]
    target = cache_folder() / f"{tool.name}-{key}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            gobuild.announce(
                f"bringing {tool.name} from Maven, once; see {tool.name}/pom.xml in tests/jvmtools"
            )
            fresh = target.with_suffix(".new")
            shutil.rmtree(fresh, ignore_errors=True)
            _copy(tool, fresh)
            _compare(tool.name, fresh, pinned)
            fresh.replace(target)
    return target


def _copy(tool: Path, folder: Path) -> None:
    command = [
        _command("mvn", "maven"),
        "-q",
        "-B",
        "-f",
        str(tool / "pom.xml"),
        "dependency:copy-dependencies",
    ]
    command += [f"-DoutputDirectory={folder}", "-DincludeScope=runtime"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        unavailable(f"Maven could not bring {tool.name}: {made.stdout.strip().splitlines()[-1:]}")


def _compare(name: str, folder: Path, pinned: str) -> None:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    wanted = {jar: digest for digest, jar in map(str.split, pinned.splitlines())}
    odd = sorted(jar for jar in found.keys() | wanted.keys() if found.get(jar) != wanted.get(jar))
    assert not odd, f"{name}: not what SHA256SUMS pins: {', '.join(odd)}"


def _command(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        unavailable(f"there is no {name}: Debian has it as {package}")
    return found
