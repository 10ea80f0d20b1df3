"""`wqc-runtime seed` copies the item for each step, for whoever the step is."""

import os
import stat
import subprocess
import sys
from pathlib import Path

PROGRAM = [sys.executable, "-m", "wqc.runtime.program", "seed"]


def test_each_step_finds_the_item_and_may_write(tmp_path: Path) -> None:
    item = tmp_path / "item.json"
    item.write_bytes('{"a": "\\ud800 ☃"}'.encode())
    item.chmod(0o444)
    steps = [tmp_path / "1.json", tmp_path / "2.json"]
    masked = ["sh", "-c", 'umask 077; exec "$@"', "sh", *PROGRAM, item, *steps]
    subprocess.run(masked, check=True)
    for step in steps:
        assert step.read_bytes() == item.read_bytes()
        assert stat.S_IMODE(step.stat().st_mode) == 0o664


def test_a_result_of_an_attempt_before_is_not_kept(tmp_path: Path) -> None:
    item, step = tmp_path / "item.json", tmp_path / "1.json"
    item.write_text("1")
    step.write_text("a longer text")
    subprocess.run([*PROGRAM, item, step], check=True)
    assert step.read_text() == "1"


def test_without_an_item_it_says_so(tmp_path: Path) -> None:
    missing = tmp_path / "item.json"
    told = subprocess.run([*PROGRAM, missing, tmp_path / "1.json"], capture_output=True, text=True)
    assert told.returncode == 2
    assert str(missing) in told.stderr
    assert "Traceback" not in told.stderr
    assert os.listdir(tmp_path) == []
