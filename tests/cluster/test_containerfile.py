"""Containerfile, built by a container engine: in the image is what is locked, no more, and not root's."""

import json
import re

from cluster.containerfile import added, build_runtime_image, described, run_in_image
from cluster.runtime_image import LOCK, USER

MOST = 375
"""Megabytes over the base; docs/decisions/runtime-image.md says what takes them."""
SCRIPT = """
import json, os, shutil, subprocess
from importlib.metadata import distributions

def said(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr

try:
    open("/opt/wqc/bin/wqc-runtime", "w")
    writes = True
except PermissionError:
    writes = False
print(json.dumps({
    "user": os.getuid(),
    "writes": writes,
    "runtime": said("wqc-runtime", "batch", "--help"),
    "wrapper": said("wqc-wrapper"),
    "git": said("git", "--version"),
    "tools": [name for name in ("pip", "go", "cc", "wheel") if shutil.which(name)],
    "packages": {each.name: each.version for each in distributions()},
}))
"""


def test_an_engine_builds_it() -> None:
    build_runtime_image()
    assert added() <= MOST
    config = described()
    assert (config["User"], config["Entrypoint"]) == (f"{USER}:{USER}", ["wqc-runtime"])
    inside = json.loads(run_in_image("python", "-c", SCRIPT))
    assert (str(inside["user"]), inside["writes"], inside["tools"]) == (USER, False, [])
    assert "usage: wqc-runtime batch" in inside["runtime"]
    assert "wqc-wrapper: no command" in inside["wrapper"]
    assert inside["git"].startswith("git version")
    locked = set(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK.read_text(), re.M))
    packages = {(_normal(name), version) for name, version in inside["packages"].items()}
    # a virtual environment of Python 3.11 brings setuptools, a later one nothing
    assert {name for name, _ in packages - locked} - {"setuptools"} == {"wqc"}
    assert {name for name, _ in packages} >= {"kubernetes", "msgspec", "confluent-kafka", "redis"}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
