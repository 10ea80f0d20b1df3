"""The security scanners that can be had, each with its default set: a function from manifests to findings."""

import hashlib
import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from support.gobuild import KUBE_SCORE, built, cache_folder
from support.goldens import objects
from support.need import unavailable

LOCK = Path(__file__).resolve().parents[2] / "requirements" / "checkov.lock"
ALL_OK = 10  # kube-score's best grade; 1 is critical, 5 a warning, 7 almost well


@dataclass(frozen=True, order=True)
class Finding:
    """`name` is `Kind/name` of the object."""

    tool: str
    check: str
    folder: str
    name: str
    message: str

    def __str__(self) -> str:
        return f"{self.tool} {self.check} on {self.name} in {self.folder}: {self.message}"


def write_scan(folder: Path, target: Path) -> Path:
    """One file with the folder's objects as they land: in a namespace of their own, Job templates as Jobs."""
    manifests = [each.manifest for each in objects(folder)]
    for manifest in manifests:
        manifest["metadata"].setdefault("namespace", folder.name.replace("_", "-"))
    target.mkdir(parents=True, exist_ok=True)
    scan = target / f"{folder.name}.yaml"
    scan.write_text(yaml.safe_dump_all(manifests))
    return scan


def kube_score(scans: list[Path]) -> Iterator[Finding]:
    options = [
        "--output-format",
        "json",
        "--kubernetes-version",
        "v1.37",
        "--disable-ignore-checks-annotations",
    ]
    for scan in scans:
        command = [str(built(KUBE_SCORE)), "score", *options, str(scan)]
        for each in json.loads(_output(command, accepted=(0, 1))):
            name = f"{each['type_meta']['kind']}/{each['object_meta']['name']}"
            for check in each["checks"]:
                if check["grade"] < ALL_OK and not check["skipped"]:
                    said = "; ".join(comment["summary"] for comment in check["comments"] or [])
                    yield Finding("kube-score", check["check"]["id"], scan.stem, name, said)


def checkov(scans: list[Path]) -> Iterator[Finding]:
    command = [
        str(_checkov_program()),
        "--framework",
        "kubernetes",
        "--output",
        "json",
        "--compact",
        "--quiet",
    ]
    command += ["--skip-download", *(part for scan in scans for part in ("--file", str(scan)))]
    said = json.loads(_output(command, accepted=(0, 1)))
    assert not said["summary"]["parsing_errors"], said
    for failed in said["results"]["failed_checks"]:
        kind, _, name = failed["resource"].split(".", 2)
        folder = Path(failed["file_path"]).stem
        yield Finding("checkov", failed["check_id"], folder, f"{kind}/{name}", failed["check_name"])


SCANNERS = {"kube-score": kube_score, "checkov": checkov}


def _output(command: list[str], accepted: tuple[int, ...]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode in accepted, f"{command[0]} broke:\n{done.stderr[-2000:]}"
    return done.stdout


def _checkov_program() -> Path:
    """checkov in a virtual environment of its own, kept in the cache: its pins must not decide ours."""
    version = "".join(map(str, sys.version_info[:2]))
    folder = cache_folder() / f"checkov-{version}-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]}"
    done = folder / "done"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        install = [
            folder / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--require-hashes",
            "-r",
            LOCK,
        ]
        made = subprocess.run(list(map(str, install)), capture_output=True, text=True)
        if made.returncode:
            unavailable(f"checkov could not be installed: {made.stderr.strip().splitlines()[-1:]}")
        done.touch()
    return folder / "bin" / "checkov"
