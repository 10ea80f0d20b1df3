"""The hooks for pre-commit: each is a command that takes files, and says by its exit code what it should."""

from pathlib import Path

import pytest
import yaml

from support.command import wqc

TOP = Path(__file__).resolve().parents[2]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())}
GOOD = (TOP / "examples" / "orders.wq").read_text()
BAD = {
    "wqc-fmt": GOOD + "carrier   c: kafka {",
    "wqc-check": GOOD.replace("worker", "wrker", 1),
    "wqc-build": GOOD.replace("parallelism = 1..10", "parallelism = 1..9", 1),
}


@pytest.mark.parametrize("name", BAD)
def test_a_hook_passes_and_refuses(tmp_path: Path, name: str) -> None:
    file = tmp_path / "w.wq"
    file.write_text(GOOD)
    args = ("-o", "out") if name == "wqc-build" else ()
    if args:
        assert wqc("build", *args, "w.wq", folder=tmp_path).status == 0
    program, *entry = HOOKS[name]["entry"].split()
    assert (program, HOOKS[name]["language"], HOOKS[name]["files"]) == ("wqc", "python", r"\.wq$")
    assert wqc(*entry, *args, "w.wq", folder=tmp_path).status == 0
    assert BAD[name] != GOOD
    file.write_text(BAD[name])
    assert wqc(*entry, *args, "w.wq", folder=tmp_path).status == 1


def test_there_are_no_others() -> None:
    assert HOOKS.keys() == BAD.keys()
