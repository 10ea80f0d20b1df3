"""`wqc check`: what it prints, where, and with which exit code."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import Ran, wqc

GOOD = """\
workflow w
source s: items { items = ["a"], arrives = 1h }
worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 1m }
queue q { from = s, worker = k }
manager { image = "example.com/wqc-runtime:0.1.0" }
"""
BAD = GOOD.replace("worker = k", "worker = j")
FOUND = """\
error[WQ204]: there is no worker `j`
 --> {name}:4:30
  |
4 | queue q {{ from = s, worker = j }}
  |                              ^
  |
help: there is `k`

"""


def test_a_clean_file(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(GOOD)
    assert wqc("check", "w.wq", "--notes", folder=tmp_path) == Ran(0, "no errors, no warnings\n", "")


def test_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(BAD)
    assert wqc("check", "w.wq", "--notes", folder=tmp_path) == Ran(
        1, FOUND.format(name="w.wq") + "1 error\n", ""
    )


def test_standard_input(tmp_path: Path) -> None:
    ran = wqc("check", "-", folder=tmp_path, given=BAD)
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.startswith(FOUND.format(name="<stdin>"))


def test_several_files_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    for name in ("a.wq", "b.wq"):
        (tmp_path / name).write_text(BAD)
    ran = wqc("check", "a.wq", "none.wq", "b.wq", "--notes", folder=tmp_path)
    assert ran == Ran(
        2,
        FOUND.format(name="a.wq") + FOUND.format(name="b.wq") + "2 errors\n",
        "wqc: cannot read none.wq: there is no such file\n",
    )


def test_a_mistake_in_a_shared_library_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "lib.wq").write_text('worker k { image = "example.com/k:1", tkes = 1s }\n')
    for name in ("a.wq", "b.wq"):
        (tmp_path / name).write_text(
            'import "./lib.wq" as lib\n' + GOOD.replace("worker = k", "worker = lib.k")
        )
    ran = wqc("check", "a.wq", "b.wq", folder=tmp_path)
    assert ran.status == 1
    assert ran.out.count(" --> lib.wq:1:") == ran.out.count("error[") == 1


def test_formats_for_programs(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(BAD)
    found = json.loads(wqc("check", "w.wq", "--format", "json", folder=tmp_path).out)
    assert [finding["code"] for finding in found["findings"] if finding["level"] == "error"] == ["WQ204"]
    log = json.loads(wqc("check", "w.wq", "--format", "sarif", folder=tmp_path).out)
    assert "WQ204" in [result["ruleId"] for result in log["runs"][0]["results"]]
    lines = wqc("check", "w.wq", "--format", "github", folder=tmp_path).out.splitlines()
    assert (
        "::error title=wqc WQ204,file=w.wq,line=4,endLine=4,col=30,endColumn=30"
        "::there is no worker `j`%0Athere is `k`"
    ) in lines


def test_params(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(
        'param n = 1\nparam i = "example.com/k:1"\n' + GOOD.replace("worker = k", "worker = k, retries = n")
    )
    (tmp_path / "prod.wqp").write_text("n = 2\n")
    assert wqc("check", "w.wq", "--params", "prod.wqp", "--param", "n=3", folder=tmp_path).status == 0
    ran = wqc("check", "w.wq", "--param", "n=many", folder=tmp_path)
    assert ran.status == 1
    assert "n" in ran.out
    ran = wqc("check", "w.wq", "--params", "none.wqp", folder=tmp_path)
    assert ran == Ran(2, "", "wqc: cannot read none.wqp: there is no such file\n")


def test_colour_only_where_it_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(BAD)
    assert "\x1b" not in wqc("check", "w.wq", folder=tmp_path).out
    assert "\x1b[1;31merror[WQ204]" in wqc("check", "w.wq", "--color", "always", folder=tmp_path).out


def test_colour_on_a_terminal_unless_no_color(tmp_path: Path) -> None:
    (tmp_path / "w.wq").write_text(BAD)
    assert "\x1b[1;31merror[WQ204]" in _on_a_terminal(tmp_path)
    assert "\x1b" not in _on_a_terminal(tmp_path, NO_COLOR="1")
    assert "\x1b" not in _on_a_terminal(tmp_path, TERM="dumb")


def _on_a_terminal(folder: Path, **environment: str) -> str:

    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "wqc", "check", "w.wq"],
        cwd=folder,
        stdout=theirs,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment},
        check=False,
    )
    os.close(theirs)
    return os.read(ours, 65536).decode()


def test_the_same_bytes_whatever_the_hash_seed_and_locale(tmp_path: Path) -> None:
    text = BAD.replace("source s:", "# é\nsorce s:") + "\n".join(
        f"queue q{n} {{ frm = x{n} }}" for n in range(20)
    )
    (tmp_path / "w.wq").write_text(text, encoding="utf-8")
    first, *others = (
        wqc("check", "w.wq", "--notes", folder=tmp_path, PYTHONHASHSEED=seed, LC_ALL=locale)
        for seed, locale in (("0", "C"), ("1", "C.UTF-8"), ("2", "POSIX"), ("3", "C"))
    )
    assert first.status == 1
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    "words",
    [
        ("check", "w.wq", "--format"),
        ("build", "w.wq", "-o", "out", "--format"),
        ("fmt", "w.wq", "--format"),
        ("run", "w.wq", "--format"),
        ("fill", "w.wq", "s", "a", "--format"),
        ("graph", "w.wq", "--findings"),
    ],
)
def test_every_command_that_reads_a_workflow_has_findings_for_programs(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "w.wq").write_text('workflow w\nsource s: items { items = ["a" }\n')
    ran = wqc(*words, "json", folder=tmp_path)
    said = json.loads(ran.err or ran.out)
    assert (ran.status, [each["code"] for each in said["findings"]]) == (1, ["WQ120"])
