"""`make cluster-up`, `cluster-down`, and variables that put other programs or clusters in place of ours."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.client import Client
from support.gobuild import API_SERVER, linked

REPOSITORY = Path(__file__).resolve().parents[2]
DONE = ("-o", ".venv/dev.stamp", "-o", ".venv/go.stamp")
"""Set-up, which is done where tests run."""
WRITES = "tests/cluster/test_writing.py::test_nothing_is_written_without_the_lease"
ITS_NAMESPACE = "leaseless"


def made(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = [str(shutil.which("make")), "--no-print-directory", *DONE, *words]
    return subprocess.run(
        command, cwd=REPOSITORY, env=kept | environment, capture_output=True, text=True, timeout=300
    )


def running(word: Path) -> list[Path]:
    """The programs that have this in their commands."""
    listed = subprocess.run(["ps", "-eww", "-o", "args="], capture_output=True, text=True, check=True)
    return sorted(Path(line.split()[0]) for line in listed.stdout.splitlines() if str(word) in line)


def test_a_cluster_of_given_programs_for_the_tests_until_it_is_put_down(tmp_path: Path) -> None:
    assets, folder = tmp_path / "assets", tmp_path / "cluster"
    programs = [assets / name for name in ("etcd", "kube-apiserver")]
    for program in programs:
        linked(API_SERVER, assets, program.name)
    own = {"WQC_TEST_CLUSTER": str(folder), "KUBEBUILDER_ASSETS": str(assets)}
    up = made("cluster-up", "TIER=api", **own)
    try:
        assert up.returncode == 0, up
        assert running(folder) == programs
        kubeconfig = Path(re.fullmatch(r"ready: export KUBECONFIG=(.+)\n", up.stdout)[1])
        again = made("cluster-up", "TIER=api", **own)
        assert (again.returncode, again.stdout) == (2, "")
        assert f"a cluster is up: export KUBECONFIG={kubeconfig}\n" in again.stderr
        client = Client(kubeconfig)
        path = f"/api/v1/namespaces/{ITS_NAMESPACE}"
        assert client.request("GET", path).status == 404
        command = [sys.executable, "-m", "pytest", "-q", f"--basetemp={tmp_path / 'inner'}", WRITES]
        environment = os.environ | {"WQC_TEST_KUBECONFIG": str(kubeconfig)}
        tested = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)
        assert (tested.returncode, "1 passed" in tested.stdout) == (0, True), tested.stdout
        assert client.request("GET", path).status == 200
    finally:
        down = made("cluster-down", **own)
    assert (down.returncode, down.stdout, down.stderr) == (0, "", "")
    assert running(folder) == []
    assert made("cluster-down", **own).stdout == "no cluster is up\n"


@pytest.mark.parametrize(
    ("tier", "lacks", "said"),
    [
        ("api", {"KUBEBUILDER_ASSETS": "/nowhere"}, "/nowhere/kube-apiserver"),
        ("real", {"PATH": "/nowhere"}, "a real node needs"),
    ],
)
def test_one_that_can_t_start_says_why_and_is_not_up(
    tmp_path: Path, tier: str, lacks: dict[str, str], said: str
) -> None:
    own = {"WQC_TEST_CLUSTER": str(tmp_path / "cluster"), **lacks}
    up = made("cluster-up", f"TIER={tier}", **own)
    assert (up.returncode, up.stdout) == (2, "")
    assert said in up.stderr
    assert made("cluster-down", **own).stdout == "no cluster is up\n"


def test_a_folder_with_something_else_in_it_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    up = made("cluster-up", "TIER=api", WQC_TEST_CLUSTER=str(tmp_path))
    assert (up.returncode, up.stdout) == (2, "")
    assert f"{tmp_path} is there, and not from a cluster before" in up.stderr
    assert (tmp_path / "mine").exists()
