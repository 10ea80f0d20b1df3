"""`wqc fmt`: which files it touches and what it says."""

import subprocess
from pathlib import Path

import pytest

from support.command import Ran, wqc
from support.disk import mounted

UGLY = '# mine\nworkflow   w\nsource s:items{items=["a"]}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.wq").write_text(UGLY)
    return tmp_path


@pytest.fixture
def pretty(folder: Path) -> str:
    return wqc("fmt", "-", folder=folder, given=UGLY).out


def test_standard_input(folder: Path, pretty: str) -> None:
    assert pretty.startswith("# mine\nworkflow w\n")
    assert wqc("fmt", "-", folder=folder, given=pretty) == Ran(0, pretty, "")


def test_a_file(folder: Path, pretty: str) -> None:
    assert wqc("fmt", "w.wq", folder=folder) == Ran(0, "", "reformatted w.wq\n")
    assert (folder / "w.wq").read_text() == pretty
    before = (folder / "w.wq").stat()
    assert wqc("fmt", "w.wq", folder=folder) == Ran(0, "", "")
    assert (folder / "w.wq").stat().st_mtime_ns == before.st_mtime_ns
    assert sorted(path.name for path in folder.iterdir()) == ["w.wq"]


def test_links_and_permissions_stay(folder: Path, pretty: str) -> None:
    (folder / "w.wq").chmod(0o640)
    (folder / "link.wq").symlink_to("w.wq")
    assert wqc("fmt", "link.wq", folder=folder) == Ran(0, "", "reformatted link.wq\n")
    assert (folder / "link.wq").is_symlink()
    assert (folder / "w.wq").read_text() == pretty
    assert (folder / "w.wq").stat().st_mode & 0o777 == 0o640


def test_check(folder: Path, pretty: str) -> None:
    (folder / "good.wq").write_text(pretty)
    ran = wqc("fmt", "--check", "w.wq", "good.wq", folder=folder)
    assert ran == Ran(1, "", "would reformat w.wq\n")
    assert wqc("fmt", "--check", "good.wq", folder=folder) == Ran(0, "", "")
    assert (folder / "w.wq").read_text() == UGLY


def test_diff(folder: Path, pretty: str) -> None:
    ran = wqc("fmt", "--diff", "w.wq", folder=folder)
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.startswith("--- w.wq\n+++ w.wq\n@@ ")
    assert [line[1:] for line in ran.out.splitlines()[3:] if line[0] in " +"] == pretty.splitlines()
    assert (folder / "w.wq").read_text() == UGLY


def test_windows_line_ends_and_a_byte_order_mark_go(folder: Path, pretty: str) -> None:
    (folder / "w.wq").write_bytes(b"\xef\xbb\xbf" + pretty.replace("\n", "\r\n").encode())
    assert wqc("fmt", "--check", "w.wq", folder=folder).status == 1
    assert wqc("fmt", "w.wq", folder=folder).status == 0
    assert (folder / "w.wq").read_bytes() == pretty.encode()


def test_a_file_with_syntax_errors_is_left_alone_and_the_others_are_not(folder: Path, pretty: str) -> None:
    (folder / "bad.wq").write_text("workflow w {\n")
    ran = wqc("fmt", "bad.wq", "none.wq", "w.wq", folder=folder)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("wqc: cannot read none.wq: there is no such file\nreformatted w.wq\nerror[WQ")
    assert (folder / "bad.wq").read_text() == "workflow w {\n"
    assert (folder / "w.wq").read_text() == pretty
    assert wqc("fmt", "bad.wq", folder=folder).status == 1


def test_params_are_no_workflow(folder: Path) -> None:
    (folder / "prod.wqp").write_text("a   =  1\n")
    ran = wqc("fmt", "prod.wqp", folder=folder)
    assert ran == Ran(2, "", "wqc: prod.wqp holds params: fmt lays out .wq files\n")


def test_a_failed_write_leaves_the_file(folder: Path) -> None:
    with mounted(folder / "disk", "size=1m") as disk:
        (disk / "w.wq").write_text(UGLY)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        ran = wqc("fmt", "disk/w.wq", folder=folder)
        assert ran == Ran(2, "", "wqc: cannot write disk/w.wq: read-only file system\n")
        assert (disk / "w.wq").read_text() == UGLY
