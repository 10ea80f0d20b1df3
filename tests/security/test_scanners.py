"""Every finding of every scanner over every golden is mended or waived in writing, and no waiver is idle."""

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
import yaml

from security.scanners import SCANNERS, Finding, write_scan
from support.goldens import FOLDERS
from support.need import unavailable

WAIVERS = yaml.safe_load((Path(__file__).parent / "waivers.yaml").read_text()) or []


@pytest.fixture(scope="session")
def scans(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    if not FOLDERS:
        unavailable("golden/ is empty")
    target = tmp_path_factory.mktemp("scans")
    return tuple(write_scan(folder, target) for folder in FOLDERS)


@cache
def findings(tool: str, scans: tuple[Path, ...]) -> list[Finding]:
    return sorted(SCANNERS[tool](list(scans)))


def waives(waiver: dict[str, str], finding: Finding) -> bool:
    return (
        waiver["tool"] == finding.tool
        and waiver["check"] == finding.check
        and fnmatchcase(finding.name, waiver["object"])
    )


@pytest.mark.parametrize("tool", SCANNERS)
def test_no_finding_without_a_waiver(tool: str, scans: tuple[Path, ...]) -> None:
    unwaived = [each for each in findings(tool, scans) if not any(waives(waiver, each) for waiver in WAIVERS)]
    assert not unwaived, "\n".join(map(str, unwaived))


@pytest.mark.parametrize("waiver", WAIVERS, ids=lambda waiver: f"{waiver['tool']}-{waiver['check']}")
def test_every_waiver_is_used(waiver: dict[str, str], scans: tuple[Path, ...]) -> None:
    assert set(waiver) == {"tool", "check", "object", "reason"}
    assert waiver["reason"].strip()
    assert any(waives(waiver, each) for each in findings(waiver["tool"], scans)), "this waiver waives nothing"


def test_scanners_find_what_is_wrong(tmp_path: Path) -> None:
    """A privileged container is told by each tool: none of them is silent because it saw nothing."""
    folder = tmp_path / "bad"
    folder.mkdir()
    container = {"name": "c", "image": "x", "securityContext": {"privileged": True}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": pod["spec"]}}}
    holder = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "q"}}
    holder["data"] = {"job.yaml": yaml.safe_dump(job)}
    (folder / "all.yaml").write_text(yaml.safe_dump_all([pod, holder]))
    scan = write_scan(folder, tmp_path / "scan")
    for tool, check in (("kube-score", "container-security-context-privileged"), ("checkov", "CKV_K8S_16")):
        told = {each.name for each in findings(tool, (scan,)) if each.check == check}
        assert told == {"Pod/p", "Job/q"}, tool
