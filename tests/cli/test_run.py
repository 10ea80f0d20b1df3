"""`wqc run`, as people use it: real workers, interruptions, and what it says when something is missing."""

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import imageio_ffmpeg
import pytest

from support.badserver import always, http, server
from support.command import wqc
from support.run_here import CHAIN, PERIODS, written
from wqc.contract.limits import NAME_LENGTH

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

COUNT = """\
workflow count
source texts: files { path = "/data", match = "**/*.txt", quiet = 1s, volume = pvc("data") }
worker size {
  image  = "busybox:1.36"
  mounts = { "/data" = pvc("data") }
  run = '''
    n=$(wc -c < "$(cat "$WORK_ITEM_DIR/path")")
    [ "$n" != 3 ] || { echo "three are too many"; exit 5; }
    printf '{"n": %s}' "$n" > "$WORK_RESULT_FILE"
    '''
}
worker told { image = "registry.example.com/told:1.0", command = ["told"], input = stdin }
queue sizes { from = texts, worker = size, result = required, retries = 1 }
filter large { from = sizes, where = item.data.n > 1 }
queue telling { from = large, worker = told }
""".replace("'''", '"""')


def texts(folder: Path, **contents: str) -> None:
    """Files that are old enough to count as complete."""
    for name, content in contents.items():
        path = folder / "data" / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        os.utime(path, (1e9, 1e9))


def told(folder: Path) -> Path:
    program = folder / "told.sh"
    program.write_text(f'#!/bin/sh\nread -r line || :\necho "$line" >> {folder / "told"}\n')
    program.chmod(0o755)
    return program


def test_files_go_through_queues_and_a_filter(tmp_path: Path) -> None:
    written(tmp_path, COUNT)
    texts(tmp_path, one="1", two="22", four="4444")
    told(tmp_path)
    arguments = ("run", "w.wq", "--volume", "data=data", "--command", "told=./told.sh", "--until-empty")
    ran = wqc(*arguments, folder=tmp_path, WQC_PERIODS=PERIODS)
    assert ran.status == 0, ran.err
    assert set(last_lines(ran.out, 2)) == {
        "sizes: 0 waiting, 0 running, 3 done, 0 failed",
        "telling: 0 waiting, 0 running, 2 done, 0 failed",
    }
    assert sorted((tmp_path / "told").read_text().splitlines()) == ['{"n": 2}', '{"n": 4}']
    texts(tmp_path, six="666666")
    assert wqc(*arguments, folder=tmp_path, WQC_PERIODS=PERIODS).status == 0
    assert sorted((tmp_path / "told").read_text().splitlines()) == ['{"n": 2}', '{"n": 4}', '{"n": 6}']


def test_a_file_that_is_too_young_is_no_silence(tmp_path: Path) -> None:
    written(tmp_path, COUNT.replace("quiet = 1s", "quiet = 3s"))
    texts(tmp_path, one="1")
    (tmp_path / "data" / "young.txt").write_text("22")
    told(tmp_path)
    arguments = ("run", "w.wq", "--volume", "data=data", "--command", "told=./told.sh", "--until-empty")
    ran = wqc(*arguments, folder=tmp_path, WQC_PERIODS=PERIODS)
    assert ran.status == 0, ran.err
    assert ran.out.splitlines().count("texts: has more that isn't complete yet") == 1
    assert "sizes: 0 waiting, 0 running, 2 done, 0 failed" in ran.out
    status = wqc("status", "--state", ".wqc", folder=tmp_path)
    assert "isn't complete" not in status.out


def test_failed_items_are_named_and_the_exit_code_says_so(tmp_path: Path) -> None:
    written(tmp_path, COUNT)
    texts(tmp_path, bad="333", good="22")
    told(tmp_path)
    arguments = ("run", "w.wq", "--volume", "data=data", "--command", "told=./told.sh", "--until-empty")
    ran = wqc(*arguments, folder=tmp_path, WQC_PERIODS=PERIODS)
    assert ran.status == 1
    assert ran.err.splitlines()[-3:] == [
        "sizes: bad.txt failed: exit code 5",
        "    three are too many",
        "`wqc retry sizes --state .wqc` has the next run try it again, "
        "`wqc discard sizes --state .wqc` gives it up",
    ]
    assert "sizes: 0 waiting, 0 running, 1 done, 1 failed\n" in ran.out
    assert ran.out.count("item failed bad.txt") == 1
    again = wqc(*arguments, folder=tmp_path, WQC_PERIODS=PERIODS)
    assert again.status == 1
    assert "item failed" not in again.out, "that was an earlier run"


@pytest.mark.parametrize(
    ("attribute", "why"),
    [
        ("paused = true", "second: items left: 3; paused in the workflow's file"),
        (
            "retries = 0, failed_limit = 1, parallelism = 1",
            "second: items left: 2; 1 failed item is held, and failed_limit is 1: "
            "retry or discard what failed",
        ),
    ],
)
def test_what_waits_for_a_person_ends_the_run(tmp_path: Path, attribute: str, why: str) -> None:
    """The first queue is worked off all the same."""
    log = tmp_path / "log"
    text = CHAIN % ('"a", "b", "c"', log, tmp_path / "no" / "folder")
    first, second = text.rsplit("queue second", 1)
    second = second.replace("parallelism = 3", attribute)
    written(tmp_path, f"{first}queue second{second}")
    ran = wqc("run", "w.wq", "--until-empty", folder=tmp_path, WQC_PERIODS=PERIODS)
    assert ran.status == 1, ran.err
    assert ran.err.splitlines()[-1] == why
    assert len(log.read_text().splitlines()) == 3


def test_an_item_that_nobody_can_take_is_no_success(tmp_path: Path) -> None:
    log = tmp_path / "log"
    written(tmp_path, CHAIN % ('"a"', log, log))
    name = "n" * (NAME_LENGTH + 1)
    listing = json.dumps({"kind": "ItemList", "apiVersion": "v1", "items": [name]})
    with server(always(http(200, listing))) as url:
        found = wqc(
            "run", "w.wq", "--until-empty", f"--source=names={url}", folder=tmp_path, WQC_PERIODS=PERIODS
        )
    assert found.status == 1
    why = f"its name or version has more than {NAME_LENGTH} characters"
    assert found.err.endswith(f"\nnames: items left out: 1; {name[:200]}: {why}\n")


def test_files_whose_names_are_no_text_are_no_success(tmp_path: Path) -> None:
    written(tmp_path, COUNT)
    texts(tmp_path, one="1", bad="22")
    for name in (b"caf\xe9.txt", b"d\xe9j\xe0 vu.txt"):
        (tmp_path / "data" / os.fsdecode(name)).write_text("333")
    found = wqc(
        "run",
        "w.wq",
        "--until-empty",
        "--volume=data=data",
        f"--command=told={told(tmp_path)}",
        folder=tmp_path,
        WQC_PERIODS=PERIODS,
    )
    assert found.status == 1, found.err
    why = r"the name of a file is not UTF-8: b'caf\xe9.txt'; 1 more file is left out"
    assert found.err.splitlines()[-1] == f"texts: items left out: 2; {why}"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "where is the volume data? Name a folder: --volume data=FOLDER"),
        (("--volume", "data=absent"), "the volume data is to be absent, which is no folder"),
        (("--volume", "data=data", "--volume", "x=data"), "nothing here mounts a volume x, but data"),
        (
            ("--volume", "data=data"),
            "worker told has no script to run here, only an image: --command told=PROGRAM stands in for it",
        ),
        (("--volume", "data=data", "--command", "told=absent.sh"), "there is no program absent.sh"),
        (("--volume", "data=data", "--command", "told=w.wq"), "w.wq isn't executable: chmod +x w.wq"),
        (("--volume", "data=data", "--command", "x=told.sh"), "no queue has a worker x, but size, told"),
        (("--volume", "data"), "argument --volume: expected NAME=FOLDER, not 'data'"),
    ],
)
def test_what_is_missing_is_asked_for(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    written(tmp_path, COUNT)
    texts(tmp_path)
    (tmp_path / "data").mkdir()
    told(tmp_path)
    ran = wqc("run", "w.wq", *arguments, folder=tmp_path)
    assert ran.status == 2
    assert complaint in ran.err
    assert "Traceback" not in ran.err


TOKENS = """\
workflow tokens
source names: items { items = ["a"] }
worker tell {
  image  = "busybox:1.36"
  env    = { TOKEN = secret("mail-api", "token") }
  mounts = { "/out" = pvc("out"), "/keys" = secret("keys") }
  run    = '''echo "$TOKEN $(cat /keys/public)" >/out/told'''
}
queue telling { from = names, worker = tell }
""".replace("'''", '"""')


def test_secrets_come_from_a_file_or_the_environment_and_stay_there(tmp_path: Path) -> None:
    written(tmp_path, TOKENS)
    for folder in ("out", "keys"):
        (tmp_path / folder).mkdir()
    (tmp_path / "keys" / "public").write_text("key")
    (tmp_path / "token").write_text("it's $(secret)\n")
    arguments = ("run", "w.wq", "--volume=out=out", "--volume=keys=keys", "--until-empty")
    ran = wqc(*arguments, folder=tmp_path)
    assert (ran.status, ran.err.splitlines()[-1]) == (
        2,
        "wqc: what is mail-api/token? Set MAIL_API_TOKEN, or name the file that holds it: "
        "--secret mail-api/token=FILE",
    )
    for number, (more, environment) in enumerate(
        (((), {"MAIL_API_TOKEN": "it's $(secret)"}), (("--secret=mail-api/token=token",), {}))
    ):
        state = f"state{number}"
        ran = wqc(*arguments, *more, "--state", state, folder=tmp_path, WQC_PERIODS=PERIODS, **environment)
        assert ran.status == 0, ran.err
        told = (tmp_path / "out" / "told").read_text()
        assert told == "it's $(secret) key\n"
        kept = [path.read_bytes() for path in (tmp_path / state).rglob("*") if path.is_file()]
        assert kept
        assert not [text for text in kept if b"it's" in text]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "source rows is a container of your own: start it, and say where it serves: --source rows=URL"),
        (("--source=row=http://localhost",), "there is no source row, but rows"),
        (("--source=rows=localhost",), "the source rows is to be localhost, which is no URL of a Source API"),
        (("--source=rows=http://a", "--source=rows=http://b"), "rows is given twice: http://a and http://b"),
        (
            ("--source=rows=http://localhost", "--secret=a/b=letters"),
            "nothing here takes a secret a/b, but none at all",
        ),
        (
            ("--source=rows=http://localhost", "--volume=letters=a b"),
            "queue letters can't run here: the path {0}/a b has characters that mean something else in its "
            "script; name a symbolic link to it that has none",
        ),
    ],
)
def test_what_can_stand_for_nothing_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "a b").mkdir()
    ran = wqc("run", EXAMPLES / "own_source.wq", *arguments, folder=tmp_path)
    assert ran.status == 2
    assert complaint.format(tmp_path) in ran.err
    assert "Traceback" not in ran.err


def last_lines(out: str, count: int) -> list[str]:
    return out.splitlines()[-count:]


def on_a_terminal(folder: Path, columns: int, rows: int, *arguments: str) -> list[str]:
    """What a person sees of it at the end, line by line."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    command = [sys.executable, "-m", "wqc", "run", "w.wq", *arguments]
    environment = os.environ | {"WQC_PERIODS": PERIODS}
    running = subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while piece := os.read(ours, 4096):
            written += piece
    os.close(ours)
    assert running.wait(60) == 0
    lines = [""]
    for piece in re.findall(r"\x1b\[\d+A\x1b\[J|\r\n|[^\x1b\r]+", written.decode()):
        if piece.startswith("\x1b"):
            up = int(piece[2 : piece.index("A")])
            assert up < (rows or 24), "it can't go up to what has scrolled away"
            del lines[len(lines) - 1 - up :]
            lines.append("")
        elif piece == "\r\n":
            assert len(lines[-1]) < (columns or 80), "a line that is wrapped takes two"
            lines.append("")
        else:
            lines[-1] += piece
    return lines


def test_on_a_terminal_the_table_keeps_up(tmp_path: Path) -> None:
    log = tmp_path / "log"
    written(tmp_path, CHAIN % ('"a", "b", "c", "d", "e", "f"', log, log))
    wide = on_a_terminal(tmp_path, 100, 30, "--until-empty")
    assert [line.split()[:5] for line in wide] == [
        ["queue", "waiting", "running", "done", "failed"],
        ["first", "0", "0", "6", "0"],
        ["second", "0", "0", "6", "0"],
        [],
    ]
    unknown = on_a_terminal(tmp_path, 0, 0, "--until-empty")
    assert [line.split()[:5] for line in unknown] == [line.split()[:5] for line in wide]
    assert on_a_terminal(tmp_path, 20, 3, "--until-empty") == [
        "queue   waiting  ru",
        "first         0    ",
        "",
    ]


def test_that_a_second_interrupt_ends_at_once_stays_on_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    written(tmp_path, (CHAIN % ('"a"', log, log)).replace("sleep 0.1", "sleep 600"))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "wqc", "run", "w.wq"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while piece := os.read(ours, 4096):
            shown += piece
            if log.exists():
                running.send_signal(signal.SIGINT)
                log.unlink()
    os.close(ours)
    assert running.wait(30) == 130
    _, told = shown.split(b"stopping as soon as the workers have ended; once more ends them at once\r\n")
    assert told == b"stopped; the next run goes on from here\r\n"


def test_films_become_thumbnails(tmp_path: Path) -> None:
    """The example as it stands, on a real film."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "ffmpeg").symlink_to(imageio_ffmpeg.get_ffmpeg_exe())
    clips = tmp_path / "clips"
    clips.mkdir()
    for name, seconds in (("one", 10), ("two films", 14)):
        film = clips / f"{name}.mp4"
        source = f"testsrc=duration={seconds}:size=160x120:rate=25"
        subprocess.run(
            [tools / "ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", source, film],
            check=True,
            stdin=subprocess.DEVNULL,
        )
        os.utime(film, (1e9, 1e9))
    shutil.copy(EXAMPLES / "thumbnails.wq", tmp_path)
    ran = wqc(
        "run",
        "thumbnails.wq",
        "--volume",
        "media=clips",
        "--until-empty",
        folder=tmp_path,
        PATH=f"{tools}:{os.environ['PATH']}",
    )
    assert ran.status == 0, ran.err
    assert last_lines(ran.out, 1) == ["thumbs: 0 waiting, 0 running, 2 done, 0 failed"]
    made = sorted(path.name for path in clips.glob("*.png"))
    # every hundredth frame of 250 and of 350
    assert made == [*(f"one.{n:03}.png" for n in (1, 2, 3)), *(f"two films.{n:03}.png" for n in (1, 2, 3, 4))]
    assert all(re.match(rb"\x89PNG", path.read_bytes()) for path in clips.glob("*.png"))
