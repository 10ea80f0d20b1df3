"""`wqc build`: what it writes, prints and refuses."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.command import Ran, wqc
from support.need import unavailable

WORKFLOW = """\
workflow w
source s: items { items = ["a"], arrives = 1m }
worker k { image = "example.com/k:1", command = ["k"], cpu = 1, memory = 1Gi, takes = 1s }
queue q { from = s, worker = k }
manager { image = "example.com/wqc-runtime:0.1.0" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.wq").write_text(WORKFLOW)
    return tmp_path


@pytest.fixture
def built(folder: Path) -> Path:
    assert wqc("build", "w.wq", "-o", "out", folder=folder).status == 0
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def change(folder: Path, old: str, new: str) -> None:
    text = (folder / "w.wq").read_text()
    assert old in text
    (folder / "w.wq").write_text(text.replace(old, new))


def test_a_first_build(folder: Path) -> None:
    ran = wqc("build", "w.wq", "-o", "out", folder=folder)
    files = sorted(contents(folder / "out"))
    assert (ran.status, ran.out) == (0, f"out/w: {len(files)} written\n")
    assert {"w/kustomization.yaml", "w/wqc.lock.json"} < set(files)
    listed = yaml.safe_load((folder / "out" / "w" / "kustomization.yaml").read_text())["resources"]
    assert all((folder / "out" / "w" / name).is_file() for name in listed)


def test_a_second_build_changes_nothing(built: Path) -> None:
    paths = [built / "out" / "w", *(built / "out" / "w").iterdir()]
    before = [path.stat() for path in paths]
    ran = wqc("build", "w.wq", "-o", "out", folder=built)
    assert (ran.status, ran.out) == (0, f"out/w: {len(paths) - 1} unchanged\n")
    assert [path.stat().st_mtime_ns for path in paths] == [stat.st_mtime_ns for stat in before]


def test_check_of_what_is_up_to_date(built: Path) -> None:
    ran = wqc("build", "w.wq", "-o", "out", "--check", folder=built)
    assert (ran.status, ran.out) == (0, "")


def test_check_shows_what_would_change_and_writes_nothing(built: Path) -> None:
    before = contents(built / "out")
    change(built, "example.com/k:1", "example.com/k:2")
    ran = wqc("build", "w.wq", "-o", "out", "--check", folder=built)
    assert ran.status == 1
    removed, added = ([line[1:] for line in ran.out.splitlines() if line.startswith(sign)] for sign in "-+")
    images = [line for line in removed if "example.com/k:1" in line]
    assert images
    assert [line.replace("k:1", "k:2") for line in images] == [
        line for line in added if "example.com/" in line
    ]
    assert "--- out/w/wqc.lock.json\n+++ out/w/wqc.lock.json\n" in ran.out
    assert contents(built / "out") == before


def test_check_before_the_first_build(folder: Path) -> None:
    ran = wqc("build", "w.wq", "-o", "out", "--check", folder=folder)
    assert ran.status == 1
    assert "--- /dev/null\n+++ out/w/kustomization.yaml\n" in ran.out
    assert not (folder / "out").exists()


def test_stdout_has_the_objects_and_nothing_else(built: Path) -> None:
    ran = wqc("build", "w.wq", "--stdout", "--notes", folder=built)
    assert ran.status == 0
    files = sorted((built / "out" / "w").glob("*.yaml"))
    objects = [
        manifest
        for path in files
        if path.name != "kustomization.yaml"
        for manifest in yaml.safe_load_all(path.read_text())
    ]

    def key(manifest: dict[str, dict[str, str]]) -> tuple[object, str]:
        return manifest["kind"], manifest["metadata"]["name"]

    assert sorted(yaml.safe_load_all(ran.out), key=key) == sorted(objects, key=key)


def test_errors_leave_the_folder_as_it_was(built: Path) -> None:
    before = contents(built / "out")
    change(built, "worker = k", "worker = j")
    ran = wqc("build", "w.wq", "-o", "out", folder=built)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error[WQ204]: there is no worker `j`\n")
    assert contents(built / "out") == before


def test_nothing_is_written_if_one_of_several_files_has_errors(folder: Path) -> None:
    (folder / "bad.wq").write_text(
        WORKFLOW.replace("workflow w", "workflow v").replace("worker = k", "worker = j")
    )
    assert wqc("build", "w.wq", "bad.wq", "-o", "out", folder=folder).status == 1
    assert not (folder / "out").exists()


def test_two_files_of_one_workflow(folder: Path) -> None:
    shutil.copy(folder / "w.wq", folder / "copy.wq")
    ran = wqc("build", "w.wq", "copy.wq", "-o", "out", folder=folder)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith("wqc: w.wq and copy.wq are both workflow w; rename one of them\n")
    assert not (folder / "out").exists()


def test_what_was_changed_by_hand_is_kept_unless_forced(built: Path) -> None:
    edited = built / "out" / "w" / "kustomization.yaml"
    text = edited.read_text()
    edited.write_text(text + "# mine\n")
    ran = wqc("build", "w.wq", "-o", "out", folder=built)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith(
        "wqc: changed by hand since wqc wrote it: out/w/kustomization.yaml; "
        "--check shows the difference, --force gives it up\n"
    )
    assert edited.read_text().endswith("# mine\n")
    assert "-# mine\n" in wqc("build", "w.wq", "-o", "out", "--check", folder=built).out
    assert wqc("build", "w.wq", "-o", "out", "--force", folder=built).status == 0
    assert edited.read_text() == text


def test_what_others_wrote_is_refused_by_name(folder: Path) -> None:
    mine = folder / "out" / "w" / "kustomization.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    ran = wqc("build", "w.wq", "-o", "out", "--force", folder=folder)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith(
        "wqc: in the way, and not written by wqc: out/w/kustomization.yaml; "
        "move this away, or build into another folder\n"
    )
    assert contents(folder / "out") == {"w/kustomization.yaml": "mine\n"}


def test_a_dropped_queue_is_noticed_from_the_lock(built: Path) -> None:
    change(built, "queue q", "queue other")
    ran = wqc("build", "w.wq", "-o", "out", folder=built)
    assert (ran.status, ran.out) == (1, "")
    assert "`q`" in ran.err
    change(built, "worker = k }", 'worker = k, formerly = "q" }')
    assert wqc("build", "w.wq", "-o", "out", folder=built).status == 0


def test_the_same_bytes_whatever_the_hash_seed(folder: Path) -> None:
    ran = [
        (
            wqc("build", "w.wq", "-o", f"out{seed}", folder=folder, PYTHONHASHSEED=seed, LC_ALL="C").status,
            contents(folder / f"out{seed}"),
        )
        for seed in "012"
    ]
    assert ran[0][0] == 0
    assert ran[1:] == [ran[0], ran[0]]


def test_builds_at_the_same_time(folder: Path) -> None:
    builds = [
        subprocess.Popen(
            [sys.executable, "-m", "wqc", "build", "w.wq", "-o", "out"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    outputs = sorted(build.communicate()[0].decode().split(" ")[-1] for build in builds)
    assert [build.returncode for build in builds] == [0, 0, 0]
    assert outputs == ["unchanged\n", "unchanged\n", "written\n"]


def test_no_network_is_needed(folder: Path) -> None:
    alone = ["unshare", "--net"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        unavailable("a network namespace of its own needs the right to make one")
    done = subprocess.run(
        [*alone, sys.executable, "-m", "wqc", "build", "w.wq", "--stdout"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    with_network = wqc("build", "w.wq", "--stdout", folder=folder)
    assert Ran(done.returncode, done.stdout.decode(), done.stderr.decode()) == with_network
    assert with_network.status == 0
