"""Files that are no workflow: one line that says what is wrong and where, and exit code 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import Ran, wqc
from wqc.cli.imports import LIBRARY

GOOD = """\
workflow w
source s: items { items = ["a"] }
worker k { image = "a/k:1" }
queue q { from = s, worker = k }
"""


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"workflow w\nparam x = \xff\n", "byte 22 (in line 2) is not UTF-8 (0xff)"),
        (b"\xef\xbb\xbfworkflow w\n\xc3(", "byte 15 (in line 2) is not UTF-8 (0xc3)"),
        (b"workflow w\n\0", "byte 12 (in line 2) is NUL, so this is no text file"),
        (b"\x7fELF\x02\x01\x01\0\0", "byte 8 (in line 1) is NUL, so this is no text file"),
        (b"\xff\xfew\0", "it is UTF-16; save it as UTF-8"),
        (b" " * (16 << 20) + b"x", "it has more than 16 MiB"),
    ],
)
@pytest.mark.parametrize("command", [("check",), ("build", "-o", "out")])
def test_what_is_no_text(data: bytes, why: str, command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "x.wq").write_bytes(data)
    assert wqc(*command, "x.wq", folder=tmp_path) == Ran(2, "", f"wqc: cannot read x.wq: {why}\n")
    assert not (tmp_path / "out").exists()


def test_missing_and_folders(tmp_path: Path) -> None:
    (tmp_path / "d.wq").mkdir()
    (tmp_path / "loop.wq").symlink_to("loop.wq")
    assert wqc("graph", "none.wq", folder=tmp_path) == Ran(
        2, "", "wqc: cannot read none.wq: there is no such file\n"
    )
    assert wqc("graph", "d.wq", folder=tmp_path) == Ran(2, "", "wqc: cannot read d.wq: it is a folder\n")
    assert wqc("graph", "loop.wq", folder=tmp_path) == Ran(
        2, "", "wqc: cannot read loop.wq: too many levels of symbolic links\n"
    )


def test_a_file_without_permission(tmp_path: Path) -> None:
    (tmp_path / "x.wq").write_text(GOOD)
    (tmp_path / "x.wq").chmod(0)
    # root reads everything unless it gives that up
    as_anyone = ["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else []
    ran = subprocess.run(
        [*as_anyone, sys.executable, "-m", "wqc", "graph", "x.wq"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (2, "wqc: cannot read x.wq: permission denied\n")


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    bad = GOOD.replace("worker = k", "worker = j")
    (tmp_path / "unix").mkdir()
    (tmp_path / "unix" / "x.wq").write_text(bad)
    (tmp_path / "windows").mkdir()
    (tmp_path / "windows" / "x.wq").write_bytes(b"\xef\xbb\xbf" + bad.replace("\n", "\r\n").encode())
    plain = wqc("check", "x.wq", folder=tmp_path / "unix")
    assert plain.status == 1
    assert wqc("check", "x.wq", folder=tmp_path / "windows") == plain


def test_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.wq")
    ran = subprocess.run(
        [sys.executable, "-m", "wqc", "graph", name], cwd=tmp_path, capture_output=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (2, b"wqc: cannot read \xff.wq: there is no such file\n")


def test_imports_that_cannot_be_read_are_findings(tmp_path: Path) -> None:
    (tmp_path / "bin.wq").write_bytes(b"\0")
    for path, why in {
        "none.wq": "there is no such file",
        "bin.wq": "byte 1 (in line 1) is NUL, so this is no text file",
        "std:none": "the library has ",
        "std:../x": "the library has ",
    }.items():
        (tmp_path / "x.wq").write_text(f'import "{path}" as lib\n{GOOD}')
        ran = wqc("check", "x.wq", folder=tmp_path)
        assert (ran.status, ran.err) == (1, "")
        assert " --> x.wq:1:8\n" in ran.out
        assert why in ran.out


def test_imports_are_found_beside_the_file_that_imports_them(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "x.wq").write_text(
        'import "b/one.wq" as one\n' + GOOD.replace("worker = k", "worker = one.k")
    )
    (tmp_path / "a" / "b" / "one.wq").write_text(
        'import "../two.wq" as two\nworker k: two.k { takes = 1s }\n'
    )
    (tmp_path / "a" / "two.wq").write_text('worker k() { image = "a/k:1", tkes = 1s }\n')
    ran = wqc("check", "a/x.wq", folder=tmp_path)
    assert " --> a/two.wq:1:31\n" in ran.out


def test_the_library_comes_with_wqc(tmp_path: Path) -> None:
    names = [path.stem for path in sorted(LIBRARY.glob("*.wq"))]
    assert names
    for name in names:
        (tmp_path / "x.wq").write_text(f'import "std:{name}" as lib\n{GOOD}')
        assert wqc("check", "x.wq", folder=tmp_path).status == 0
