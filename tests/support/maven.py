"""Java programs that the tests need, fetched once from Maven Central and kept outside the repository.

The cache is `${XDG_CACHE_HOME:-~/.cache}/wqc`, keyed by the pom.xml that pins them.
"""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

from support.gobuild import cache_folder
from support.need import unavailable

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def jars(pom: Path) -> Path:
    """The folder with all jars of a pom; skips (in CI: fails) where they can't be had."""
    if not shutil.which("java"):
        unavailable(f"{pom.parent.name} needs Java: apt-get install openjdk-17-jre-headless maven")
    target = cache_folder() / f"{pom.parent.name}-{hashlib.sha256(pom.read_bytes()).hexdigest()[:16]}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            if not shutil.which("mvn"):
                unavailable(f"{pom.parent.name} is fetched with Maven: apt-get install maven")
            fresh = target.with_suffix(".new")
            shutil.rmtree(fresh, ignore_errors=True)
            command = ["mvn", "--quiet", "--batch-mode", f"--file={pom}", PLUGIN]
            command += [f"-DoutputDirectory={fresh}", "-DincludeScope=runtime"]
            made = subprocess.run(command, cwd=target.parent, capture_output=True, text=True)
            if made.returncode:
                unavailable(f"{pom.parent.name} could not be fetched: {made.stdout.strip()[-500:]}")
            fresh.replace(target)
    return target
