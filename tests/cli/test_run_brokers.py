"""Workflows that read message queues of real brokers, with everything killed in the middle."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.ambassador import ambassador, source_settings
from support.filled import ITEMS, kafka, rabbitmq, redis_list, redis_stream
from support.localrun import recorded

PERIODS = "backoff=0.1 backoff_limit=0.5 flush=0.2 listing=0.3 retry_listing=0.1 refused_limit=0.5"

WORKFLOW = """\
workflow jobs
source numbers: %s
worker note {
  image = "busybox:1.36"
  run   = '''
    echo "$(cat "$WORK_ITEM_DIR/n")" >> "$LOG"
    '''
}
queue notes { from = numbers, worker = note, parallelism = 12, env = { LOG = "%s" } }
""".replace("'''", '"""')


def start(folder: Path, url: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wqc", "run", "w.wq", "--until-empty", f"--source=numbers={url}"]
    environment = os.environ | {"WQC_PERIODS": PERIODS}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("filled", [redis_list, redis_stream, rabbitmq, kafka])
def test_managers_and_ambassadors_killed_in_the_middle_lose_nothing_and_record_nothing_twice(
    tmp_path: Path, filled: Any
) -> None:
    log = tmp_path / "log"
    chance = random.Random(7)

    def worked() -> int:
        return len(log.read_text().splitlines()) if log.exists() else 0

    with filled(tmp_path) as broker:
        (tmp_path / "w.wq").write_text(WORKFLOW % (broker.block, log))
        settings = source_settings(tmp_path / "settings", "numbers", broker.kind, **broker.options)
        text = (settings / "numbers" / "source.yaml").read_text()
        (settings / "numbers" / "source.yaml").write_text(f"{text}workflow: test\n")
        kills = 0
        while True:
            enough = min(ITEMS - 50, worked() + chance.randrange(60, 140))
            with ambassador(["source", "numbers"], settings, WQC_PERIODS=PERIODS) as source:
                running = start(tmp_path, source.url)
                until = time.monotonic() + 200
                while running.poll() is None and (kills == 4 or worked() < enough):
                    assert time.monotonic() < until, f"{worked()} of {ITEMS} are worked on"
                    time.sleep(0.05)
                if running.poll() is not None:
                    break
                if kills % 2:
                    source.process.kill()
                    time.sleep(chance.random())
                running.send_signal(signal.SIGKILL)
                running.communicate()
                kills += 1
        _, complaints = running.communicate()
        assert running.returncode == 0, complaints.decode()
        assert kills == 4
        assert {int(line) for line in log.read_text().splitlines()} == set(range(ITEMS))
        found = recorded(tmp_path / ".wqc" / "jobs", "notes")
        assert len(found) == ITEMS
        assert set(found.values()) == {1}
        assert broker.left() == 0
