"""What `wqc completion` prints completes commands, options and files in the real shells."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.command import wqc
from support.need import unavailable

BASH = """
source {script}
COMP_WORDS=({words}) COMP_CWORD={last}
_shtab_wqc
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
fpath=({folder} $fpath)
autoload -U compinit
compinit -u -d {folder}/dump
autoload +X -U _wqc && print $_comps[wqc]
"""


def completion(shell: str, folder: Path) -> str:
    done = wqc("completion", shell, folder=folder)
    assert (done.status, done.err) == (0, "")
    return done.out


def run(shell: str, script: str) -> list[str]:
    if not shutil.which(shell):
        unavailable(shell)
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("wqc sta", {"status"}),
        ("wqc check --f", {"--format"}),
        ("wqc status --format ", {"text", "json"}),
        ("wqc run --unt", {"--until-empty"}),
    ],
)
def test_bash_and_fish_complete(typed: str, offered: set[str], tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(completion("bash", tmp_path))
    words = typed.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    bash = run("bash", BASH.format(script=script, words=quoted, last=len(words) - 1))
    assert offered <= {line.strip() for line in bash}
    script.write_text(completion("fish", tmp_path))
    fish = run("fish", f"source {script}; complete -C '{typed}'")
    assert offered <= {line.partition("\t")[0] for line in fish}


def test_zsh_loads_it(tmp_path: Path) -> None:
    (tmp_path / "_wqc").write_text(completion("zsh", tmp_path))
    assert run("zsh", ZSH.format(folder=tmp_path)) == ["_wqc"]


def test_a_command_is_described_by_a_whole_sentence(tmp_path: Path) -> None:
    lines = [line for line in completion("zsh", tmp_path).splitlines() if line.strip().startswith("run:")]
    assert [line.strip() for line in lines] == [
        "run:'Run a workflow with processes on this machine instead of Jobs on a cluster'"
    ]
