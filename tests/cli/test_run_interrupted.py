"""`wqc run` that is killed, interrupted, or left without room on the disk: nothing is lost."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from support.command import wqc
from support.disk import mounted
from support.localrun import recorded
from support.run_here import CHAIN, PERIODS, written
from wqc.contract.names import item_hash
from wqc.runtime.stores.local import process
from wqc.runtime.stores.local.jobfolder import JobFolder


def start(folder: Path, *arguments: str, periods: str = PERIODS) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "wqc", "run", "w.wq", *arguments],
        cwd=folder,
        env=os.environ | {"WQC_PERIODS": periods},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def living(group: int) -> list[str]:
    """The states of a process group's processes that nobody has to bury yet."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [state for number, state in rows if int(number) == group and not state.startswith("Z")]


def workers(folder: Path) -> list[int]:
    """The process groups of those that haven't ended."""
    pids = (folder / ".wqc").glob("chain/jobs/*/pid")
    return [int(pid.read_text()) for pid in pids if process.runs(JobFolder(pid.parent))]


def progress(state: Path) -> frozenset[tuple[str, ...]]:
    """What is on the disk; a folder may vanish meanwhile."""
    return frozenset((folder, *sorted(names)) for folder, _, names in os.walk(state))


def test_kill_at_any_point_loses_nothing_and_records_nothing_twice(tmp_path: Path) -> None:
    names = [f"item-{number}" for number in range(12)]
    log = tmp_path / "log"
    written(tmp_path, CHAIN % (", ".join(f'"{name}"' for name in names), log, log))
    chance = random.Random(4)
    state = tmp_path / ".wqc" / "chain"
    kills = 0
    while True:
        before = progress(state)
        running = start(tmp_path, "--until-empty")
        until = time.monotonic() + 60
        while running.poll() is None and progress(state) == before:
            assert time.monotonic() < until, "it makes no progress"
            time.sleep(0.01)
        try:
            _, complaints = running.communicate(timeout=chance.uniform(0.0, 0.7))
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()
            kills += 1
            continue
        assert running.returncode == 0, complaints.decode()
        break
    assert kills > 1
    worked = Counter(log.read_text().splitlines())
    assert set(worked) == {f'{node} "{name}"' for node in ("first", "second") for name in names}
    for queue in ("first", "second"):
        assert recorded(tmp_path / ".wqc" / "chain", queue) == Counter(item_hash(name, "") for name in names)


def test_a_machine_that_goes_down_with_all_its_workers_loses_nothing(tmp_path: Path) -> None:
    """The run and its workers are killed at once, as a reboot does; nobody is left to write down an end."""
    names = [f"item-{number}" for number in range(6)]
    log = tmp_path / "log"
    text = CHAIN % (", ".join(f'"{name}"' for name in names), log, log)
    # the work is noted once it is done: what was killed before hasn't come out
    begun = '    echo "$NODE $(cat "$WORK_ITEM_FILE")" >> "$LOG"\n    sleep 0.1\n'
    assert begun in text
    written(tmp_path, text.replace(begun, "    sleep 0.5\n" + begun))
    for _ in range(3):
        running = start(tmp_path, "--until-empty")
        until = time.monotonic() + 30
        while len(workers(tmp_path)) < 3:
            assert time.monotonic() < until, "it has no workers"
            assert running.poll() is None
            time.sleep(0.02)
        running.kill()
        while groups := workers(tmp_path):
            for group in groups:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
        running.communicate()
    ran = wqc("run", "w.wq", "--until-empty", folder=tmp_path, WQC_PERIODS=PERIODS)
    assert (ran.status, ran.out.splitlines()[-1]) == (0, "second: 0 waiting, 0 running, 6 done, 0 failed")
    worked = Counter(log.read_text().splitlines())
    assert set(worked) == {f'{node} "{name}"' for node in ("first", "second") for name in names}
    for queue in ("first", "second"):
        assert recorded(tmp_path / ".wqc" / "chain", queue) == Counter(item_hash(name, "") for name in names)


def test_an_interrupt_ends_the_workers_and_the_next_run_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    written(tmp_path, (CHAIN % ('"a", "b"', log, log)).replace("sleep 0.1", "sleep 600 & wait"))
    running = start(tmp_path)
    until = time.monotonic() + 30
    while not (log.exists() and len(log.read_text().splitlines()) == 2):
        assert time.monotonic() < until
        time.sleep(0.05)
    pids = workers(tmp_path)
    assert len(pids) == 2
    running.send_signal(signal.SIGINT)
    _, complaints = running.communicate(timeout=20)
    assert running.returncode == 130
    assert complaints.decode().splitlines()[-2:] == [
        "stopping as soon as the workers have ended; once more ends them at once",
        "stopped; the next run goes on from here",
    ]
    for pid in pids:
        assert not living(pid)
    shown = wqc("status", "--state", ".wqc", folder=tmp_path).out.splitlines()
    assert [line.split() for line in shown[2:]] == [
        ["first", "2", "0", "0", "0", "0.0/min"],
        ["second", "0", "0", "0", "0", "0.0/min"],
    ]
    written(tmp_path, CHAIN % ('"a", "b"', log, log))
    ran = wqc("run", "w.wq", "--until-empty", folder=tmp_path, WQC_PERIODS=PERIODS)
    assert (ran.status, ran.out.splitlines()[-1]) == (0, "second: 0 waiting, 0 running, 2 done, 0 failed")


def test_who_stops_a_run_is_told_where_the_failed_items_are(tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = (CHAIN % ('"a", "b"', log, log)).replace("sleep 0.1", "exit 1")
    written(tmp_path, text.replace("parallelism = 3,", "parallelism = 3, retries = 0,"))
    assert wqc("run", "w.wq", "--until-empty", folder=tmp_path, WQC_PERIODS=PERIODS).status == 1
    running = subprocess.Popen(
        [sys.executable, "-m", "wqc", "run", "w.wq"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout
    while b" 2 failed" not in running.stdout.readline():
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, complaints = running.communicate(timeout=20)
    assert complaints.decode().splitlines()[-2:] == [
        "failed items are held: 2; `wqc status --state .wqc` shows them",
        "stopped; the next run goes on from here",
    ]


def test_what_was_cut_off_begins_again_at_once_and_speaks_against_no_lane(tmp_path: Path) -> None:
    log = tmp_path / "log"
    names = ", ".join(f'"{name}"' for name in "abcdefghij")
    text = (CHAIN % (names, log, log)).rsplit("queue second", 1)[0]
    text += 'sharder half { from = names, key = item.name, shards = { x = zone("a"), y = zone("b") } }\n'
    written(tmp_path, text.replace("from = names, worker", "from = half, worker").replace("0.1", "600"))
    running = start(tmp_path)
    until = time.monotonic() + 30
    while not (log.exists() and len(log.read_text().splitlines()) == 6):
        assert time.monotonic() < until
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=20)
    path = tmp_path / "w.wq"
    path.write_text(path.read_text().replace("sleep 600", "sleep 0.1"))
    running = start(tmp_path, "--until-empty", periods=f"{PERIODS} backoff=600 backoff_limit=600")
    running.communicate(timeout=20)
    assert running.returncode == 0
    assert len(log.read_text().splitlines()) == 16


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_ends_workers_that_take_their_time(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    log = tmp_path / "log"
    stubborn = "trap '' TERM INT; sleep 600"
    written(tmp_path, (CHAIN % ('"a"', log, log)).replace("sleep 0.1", stubborn))
    running = start(tmp_path)
    until = time.monotonic() + 30
    while not log.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    (pid,) = workers(tmp_path)
    running.send_signal(number)
    time.sleep(1.0)
    assert living(pid)
    began = time.monotonic()
    running.send_signal(number)
    running.communicate(timeout=20)
    assert time.monotonic() - began < 3.0
    assert running.returncode == status
    assert not living(pid)


def test_a_second_run_on_the_same_state_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    written(tmp_path, (CHAIN % ('"a"', log, log)).replace("sleep 0.1", "sleep 600 & wait"))
    running = start(tmp_path)
    until = time.monotonic() + 30
    while not log.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    ran = wqc("run", "w.wq", folder=tmp_path)
    assert (ran.status, ran.err.splitlines()[-1]) == (
        2,
        "wqc: another manager works in .wqc/chain; stop the wqc run that does, "
        "or give this one a --state of its own",
    )
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=20)


def test_a_full_disk_is_said_in_words_and_nothing_is_lost(tmp_path: Path) -> None:
    log = tmp_path / "log"
    names = [f"item-{number}" for number in range(8)]
    written(tmp_path, CHAIN % (", ".join(f'"{name}"' for name in names), log, log))
    with mounted(tmp_path / "state", "size=512k") as disk:
        running = subprocess.Popen(
            [sys.executable, "-m", "wqc", "run", "w.wq", "--state", "state", "--until-empty"],
            cwd=tmp_path,
            env=os.environ | {"WQC_PERIODS": PERIODS, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            ballast = disk / "ballast"
            until = time.monotonic() + 30
            while not log.exists():
                assert time.monotonic() < until
                time.sleep(0.01)
            with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
            time.sleep(3.0)
            assert running.poll() is None, running.communicate()[0].decode()
            ballast.unlink()
            said, _ = running.communicate(timeout=60)
        finally:
            running.kill()
            running.wait()
        assert running.returncode == 0, said.decode()
        assert "No space left on device" in said.decode()
        assert "Traceback" not in said.decode()
        for queue in ("first", "second"):
            assert recorded(disk / "chain", queue) == Counter(item_hash(name, "") for name in names)
    assert {f'second "{name}"' for name in names} <= set(log.read_text().splitlines())
