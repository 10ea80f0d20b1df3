"""Help, bad usage, and commands that read no workflow."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.command import Ran, wqc
from wqc import __version__
from wqc.cli.arguments import COMMANDS, command_line
from wqc.cli.ending import Status
from wqc.cli.main import main
from wqc.diagnostics import mistakes  # noqa: F401  (fills the registry)
from wqc.diagnostics.mistake import MISTAKES
from wqc.language.schema import BLOCKS, FUNCTIONS


def test_version(tmp_path: Path) -> None:
    assert wqc("--version", folder=tmp_path) == Ran(0, f"wqc {__version__}\n", "")


def test_help_lists_every_command(tmp_path: Path) -> None:
    ran = wqc("--help", folder=tmp_path)
    assert (ran.status, ran.err) == (0, "")
    for name, summary in COMMANDS.items():
        assert name in ran.out
        assert summary in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, tmp_path: Path) -> None:
    ran = wqc(command, "--help", folder=tmp_path)
    assert (ran.status, ran.err) == (0, "")
    assert f"example:\n  wqc {command} " in f"{ran.out} "


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "wqc: the following arguments are required: COMMAND; see wqc --help"),
        (["chek"], "wqc: there is no command chek; did you mean check?"),
        (["zzz"], "wqc: there is no command zzz; see wqc --help"),
        (["explain", "--al"], "wqc explain: there is no option --al; did you mean --all?"),
        (["schema", "x"], "wqc schema: there is no argument x; see wqc schema --help"),
        (["completion", "ksh"], "wqc completion: argument shell: invalid choice: 'ksh' (choose from"),
        (["explain"], "wqc: explain needs the code of a finding, such as WQ201, or --all"),
        (["explain", "WQ20"], "wqc: there is no finding WQ20: did you mean `WQ"),
        (["check"], "wqc check: the following arguments are required: FILE; see wqc check --help"),
        (["check", "x.wq", "--param", "a"], "wqc check: argument --param: expected NAME=VALUE, not 'a'; see"),
        (
            ["check", "x.wq", "--param", "a=1", "--param", "a=2"],
            "wqc check: argument --param: a is given twice: 1 and 2; see",
        ),
        (
            ["run", "x.wq", "--volume", "films="],
            "wqc run: argument --volume: expected NAME=FOLDER, not 'films='; see",
        ),
        (["build", "films/*.wq", "--stdout"], "wqc: cannot read films/*.wq: no file matches"),
        (
            ["check", "x.wq", "--kubernetes-version", "v1"],
            "wqc check: argument --kubernetes-version: wqc knows Kubernetes 1.35, 1.36 and 1.37, not 'v1';",
        ),
        (["build", "x.wq"], "wqc: build needs -o DIR, the folder to write to, or --stdout"),
        (
            ["build", "x.wq", "--check", "--stdout"],
            "wqc build: argument --stdout: not allowed with argument --check; see",
        ),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(words: list[str], complaint: str, tmp_path: Path) -> None:
    ran = wqc(*words, folder=tmp_path)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(complaint)


@pytest.mark.parametrize(
    "words",
    [
        "fill w.wq old a b c --create --param n=1",
        "fill w.wq old --create a b c --param n=1",
        "fill --param n=1 w.wq --create old a b c",
        "fill w.wq --param=n=1 old a --create b c",
        "fill w.wq old a --param n=1 --create -- b c",
        "retry old a -n media b c",
        "retry old -n media a b c",
        "discard -n media old a b -- c",
        "discard old a b c --namespace=media",
    ],
)
def test_items_and_options_come_in_any_order(words: str) -> None:
    arguments = command_line(words.split()).parse_args(words.split())
    assert arguments.items == ["a", "b", "c"]
    if arguments.command == "fill":
        assert (arguments.file, arguments.source, arguments.create) == ("w.wq", "old", True)
        assert arguments.param == {"n": "1"}
    else:
        assert (arguments.queue, arguments.namespace) == ("old", "media")


def test_an_item_may_look_like_an_option() -> None:
    words = ["fill", "w.wq", "old", "--create", "--", "-x", "--create"]
    arguments = command_line(words).parse_args(words)
    assert arguments.items == ["-x", "--create"]


def test_explain(tmp_path: Path) -> None:
    mistake = MISTAKES["WQ201"]
    assert wqc("explain", "wq201", folder=tmp_path) == Ran(
        0,
        f"## WQ201: {mistake.title}\n\nThis is an error: it can't work.\n\n{mistake.explanation}\n\n"
        f"Wrong:\n\n```wq wrong\n{mistake.bad}```\n\nRight:\n\n```wq\n{mistake.good}```\n\n"
        "It can't be silenced: there would be nothing to build.\n",
        "",
    )


def test_explain_all_has_each_once_in_order(tmp_path: Path) -> None:
    ran = wqc("explain", "--all", folder=tmp_path)
    titles = [line for line in ran.out.splitlines() if line.startswith("## ")]
    assert titles == [f"## {code}: {MISTAKES[code].title}" for code in sorted(MISTAKES)]


def test_schema(tmp_path: Path) -> None:
    ran = wqc("schema", folder=tmp_path)
    assert (ran.status, ran.err) == (0, "")
    table = json.loads(ran.out)
    assert table["format_version"] == 1
    assert [block["name"] for block in table["blocks"]] == list(BLOCKS)
    assert [function["name"] for function in table["functions"]] == list(FUNCTIONS)
    files = next(block for block in table["blocks"] if block["name"] == "source")["kinds"][0]
    assert files["attributes"][2] == {
        "name": "volume",
        "doc": "the volume that is mounted at `path`",
        "required": True,
        "default": None,
        "type": {"name": "call", "words": "`pvc(…)`", "functions": ["pvc"]},
    }


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion(shell: str, tmp_path: Path) -> None:
    ran = wqc("completion", shell, folder=tmp_path)
    assert (ran.status, ran.err) == (0, "")
    assert all(command in ran.out for command in COMMANDS)


def test_bash_completes_commands_options_and_choices(tmp_path: Path) -> None:
    (tmp_path / "wqc.bash").write_text(wqc("completion", "bash", folder=tmp_path).out)
    assert _completed(tmp_path, "wqc", "exp") == ["explain"]
    assert _completed(tmp_path, "wqc", "check", "--not") == ["--notes"]
    assert _completed(tmp_path, "wqc", "check", "--format", "sa") == ["sarif"]


def _completed(folder: Path, *words: str) -> list[str]:
    script = (
        "source wqc.bash; COMP_WORDS=(" + " ".join(words) + f"); COMP_CWORD={len(words) - 1}; "
        "$(complete -p wqc | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "wqc", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_an_output_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wqc", "schema"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        2,
        "wqc: cannot write to standard output: no space left on device\n",
    )


def test_an_interrupt_is_quiet(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.wq")
    with subprocess.Popen(
        [sys.executable, "-m", "wqc", "check", "slow.wq"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        writer = _opened_by_its_reader(tmp_path / "slow.wq", process)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait() == 130
        os.close(writer)


def _opened_by_its_reader(pipe: Path, reader: subprocess.Popen[bytes]) -> int:
    while reader.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            time.sleep(0.01)
    raise AssertionError(f"it ended with {reader.returncode} before it read anything")


def test_a_bug_is_told_as_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: object) -> Status:
        raise KeyError("films")

    monkeypatch.setattr("wqc.cli.schema.run", broken)
    assert main(["schema"]) == 2
    assert re.fullmatch(
        r"wqc: this is a bug in wqc, not a mistake of yours: KeyError: 'films', line \d+ of wqc\.cli\.main\n"
        r"wqc: please report it with your \.wq file and what --debug prints\n",
        capsys.readouterr().err,
    )
    with pytest.raises(KeyError):
        main(["schema", "--debug"])
